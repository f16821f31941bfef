package import MynahLifecycle
import MynahSupport

/// The identifiers of peripherals that an app itself has stored, as an iOS app keeps them in its defaults.
///
/// Unlike what the system preserves, they outlive a quit by the user.
package struct SavedIdentifiers: Hashable, Sendable {
    /// The app's name.
    package let app: String
    /// The identifiers, by the names that the app has for its peripherals.
    package var peripherals: [String: PeripheralIdentifier]

    package init(app: String, peripherals: [String: PeripheralIdentifier] = [:]) {
        self.app = app
        self.peripherals = peripherals
    }
}

extension SavedIdentifiers: KeptContent {
    private static let version = 1

    var fileName: String { "app+\(FileNamePart.escape(app, 200)).json" }
    var subject: String { "what the app \(app) stored" }

    var json: JSON {
        let members = peripherals.sorted { $0.key < $1.key }.map { name, identifier in
            JSON.Member(name, .string(identifier.description))
        }
        return .object([
            .init("mynahState", .integer(Self.version)), .init("app", .string(app)),
            .init("peripherals", .object(members)),
        ])
    }

    init(json: JSON, app: String) throws(PreservedStateProblem) {
        try json.checkVersion(Self.version)
        guard json["app"]?.stringValue == app else { throw .init(description: "it is of another app") }
        guard case .object(let members)? = json["peripherals"] else {
            throw .init(description: "peripherals are missing")
        }
        self.init(app: app)
        for member in members {
            guard let identifier = member.value.stringValue.flatMap({ PeripheralIdentifier($0) }) else {
                throw .init(description: "the peripheral \(member.key) has no identifier")
            }
            peripherals[member.key] = identifier
        }
    }
}

extension AppAccess {
    /// What the app stored in an earlier process, or nothing if that cannot be used.
    package func savedIdentifiers() -> SavedIdentifiers? {
        look { app, phone in
            let name = app.description.name
            let (identifiers, warning) = phone.preserved.loadSavedIdentifiers(of: name)
            if let warning { phone.warn("savedIdentifiersUnusable", warning) }
            return identifiers ?? SavedIdentifiers(app: name)
        }
    }

    /// Stores what the app wants to keep, soon, if its phone has a state directory.
    package func save(_ identifiers: SavedIdentifiers) {
        _ = look { _, phone in phone.save(identifiers) }
    }
}
