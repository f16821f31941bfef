package import MynahLifecycle
import MynahSupport

/// The data that an app itself stores, as an iOS app does in its defaults: the identifiers of its
/// peripherals, and the activities that its user stopped.
///
/// Unlike the state that the system preserves, this data survives when the user quits the app.
package struct SavedIdentifiers: Hashable, Sendable {
    /// The app's name.
    package let app: String
    /// For each central manager of the app, the identifiers of its peripherals by their names in the profile.
    package var managers: [[String: PeripheralIdentifier]]
    /// The activities that the app's user stopped on the screen and has not started again.
    package var stopped: Set<Activity> = []

    /// An activity of an app that its user starts and stops on the screen.
    package enum Activity: String, Hashable, Sendable, CaseIterable {
        /// The app advertises.
        case advertising
        /// The app scans.
        case scan
    }

    package init(app: String, managers: [[String: PeripheralIdentifier]] = []) {
        self.app = app
        self.managers = managers
    }

    /// The identifiers of a manager, by its index in the app.
    package subscript(manager: Int) -> [String: PeripheralIdentifier] {
        get { managers.indices.contains(manager) ? managers[manager] : [:] }
        set {
            while managers.count <= manager { managers.append([:]) }
            managers[manager] = newValue
        }
    }
}

extension SavedIdentifiers: KeptContent {
    private static let version = 1

    var fileName: String { "app+\(FileNamePart.escape(app, 200)).json" }
    var subject: String { "what the app \(app) stored" }

    var json: JSON {
        let managers = managers.map { peripherals in
            JSON.object(
                peripherals.sorted { $0.key < $1.key }.map { name, identifier in
                    .init(name, .string(identifier.description))
                })
        }
        return .object([
            .init("mynahState", .integer(Self.version)), .init("app", .string(app)),
            .init("managers", .array(managers)),
            .init(
                "stopped",
                .array(Activity.allCases.filter(stopped.contains).map { .string($0.rawValue) })),
        ])
    }

    init(json: JSON, app: String) throws(PreservedStateProblem) {
        try json.checkVersion(Self.version)
        guard json["app"]?.stringValue == app else { throw .init(description: "it belongs to another app") }
        guard let managers = json["managers"]?.arrayValue else {
            throw .init(description: "managers are missing")
        }
        self.init(app: app)
        // An earlier version did not write it.
        stopped = Set(
            (json["stopped"]?.arrayValue ?? []).compactMap {
                $0.stringValue.flatMap { Activity(rawValue: $0) }
            })
        for (index, manager) in managers.enumerated() {
            guard case .object(let members) = manager else {
                throw .init(description: "a manager is not an object")
            }
            for member in members {
                guard let identifier = member.value.stringValue.flatMap({ PeripheralIdentifier($0) }) else {
                    throw .init(description: "the peripheral \(member.key) has no identifier")
                }
                self[index][member.key] = identifier
            }
        }
    }
}

extension AppAccess {
    /// The identifiers that the app stored in an earlier process, or none if the file cannot be used.
    package func savedIdentifiers() -> SavedIdentifiers? {
        look { app, phone in
            let name = app.description.name
            return phone.files.load(
                insteadOf: SavedIdentifiers(app: name), warning: "savedIdentifiersUnusable"
            ) { json throws(PreservedStateProblem) in try SavedIdentifiers(json: json, app: name) }
        }
    }

    /// Queues the saving of the app's data, if its phone has a state directory.
    package func save(_ identifiers: SavedIdentifiers) {
        _ = look { _, phone in phone.files.save(identifiers) }
    }
}
