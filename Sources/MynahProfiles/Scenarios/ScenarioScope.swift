import MynahCore
import MynahFaults
import MynahSupport
import MynahValues

/// The device for which scenarios are written.
struct ScenarioScope {
    let profile: Profile
    let tree: AttributeTree
    /// `true` if all attributes of the device are known; otherwise, an unknown name may be valid.
    let isWhole: Bool
    /// `true` if all faults of the device are known.
    let hasAllFaults: Bool

    init(_ profile: Profile, isWhole: Bool, hasAllFaults: Bool) {
        self.profile = profile
        self.isWhole = isWhole
        self.hasAllFaults = hasAllFaults
        tree = profile.attributeTree
    }

    /// The words for an app's transitions, as on the command line.
    static let transitions = [
        "foreground", "background", "suspended", "terminated", "quit", "memoryPressure", "crash",
    ]

    var faults: [String] { profile.faults.map(\.fault.name) }

    private var peripherals: [Profile.Central.Peripheral] { profile.centrals.flatMap(\.peripherals) }

    // MARK: Events

    /// Returns the reason that an event with this requirement can never happen, or `nil` if it can.
    func problem(with need: EventCatalog.Need) -> String? {
        switch need {
        case .nothing: nil
        case .never(let reason): reason
        case .app: profile.app == nil ? "no app plays the device; add app" : nil
        case .backgroundMode:
            problem(with: .app)
                ?? (profile.app?.backgroundModes.isEmpty == true ? "the app has no background mode" : nil)
        case .restoreIdentifier: problem(with: .app) ?? problemOfRestoration
        case .central: profile.centrals.isEmpty ? "the profile has no central" : nil
        case .connection: problem(with: .central) ?? missing("connects to no device") { $0.connection != nil }
        case .centralRead: problem(with: .central) ?? missing("reads no value") { !$0.read.isEmpty }
        case .centralSubscription:
            problem(with: .central) ?? missing("subscribes to nothing") { !$0.subscribe.isEmpty }
        case .centralWrite: problem(with: .central) ?? missing("writes no value") { !$0.writes.isEmpty }
        case .attribute(let use):
            uses.contains { $0.contains(use) } ? nil : "no attribute has \(Self.property(use))"
        }
    }

    private var problemOfRestoration: String? {
        let hasIdentifier =
            profile.isPeripheral && profile.app?.restoreIdentifier != nil
            || profile.centrals.contains { $0.restoreIdentifier != nil }
        return hasIdentifier ? nil : "the app has no restoreIdentifier"
    }

    private func missing(_ what: String, _ isThere: (Profile.Central.Peripheral) -> Bool) -> String? {
        peripherals.contains(where: isThere) ? nil : "the app \(what)"
    }

    /// Returns the reason that an event can never happen for the attribute `name`, or `nil` if it can.
    func problem(with need: EventCatalog.Need, of name: AttributeName) -> String? {
        let names: [AttributeName]
        let verb: String
        switch need {
        case .centralRead: (names, verb) = (peripherals.flatMap(\.read), "reads")
        case .centralSubscription: (names, verb) = (peripherals.flatMap(\.subscribe), "subscribes to")
        case .centralWrite: (names, verb) = (peripherals.flatMap(\.writes).map(\.target), "writes")
        default: return nil
        }
        let isUsed = names.contains { used in
            let services = (used.serviceTypes, name.serviceTypes)
            guard let one = services.0, let other = services.1 else {
                return !used.types.isDisjoint(with: name.types)
            }
            return !one.isDisjoint(with: other) && !used.types.isDisjoint(with: name.types)
        }
        return isUsed ? nil : "the app \(verb) no \(name.text)"
    }

    /// Returns the reason that an attribute of the device does not allow a kind of access, or `nil` if it
    /// does.
    func problem(with use: EventCatalog.AttributeUse, at position: AttributeTree.Position) -> String? {
        uses(at: position).contains(use) ? nil : "it does not have \(Self.property(use))"
    }

    /// Returns the words for the property that a kind of access requires.
    private static func property(_ use: EventCatalog.AttributeUse) -> String {
        switch use {
        case .any: "a property"
        case .read: "the property read"
        case .write: "a write property"
        case .update: "notify or indicate"
        case .indicate: "the property indicate"
        case .ask: "ask"
        }
    }

    // MARK: Attributes

    /// Returns the possible layouts of an attribute's value; empty if it has none.
    ///
    /// Returns `nil` if the attribute is not known. For an attribute of another device, these are the SIG's
    /// layouts.
    func layouts(of name: AttributeName, isOwn: Bool) -> [ValueLayout]? {
        guard isOwn else {
            return name.types.sorted { $0.description < $1.description }
                .compactMap { KnownLayouts.layout(of: $0) }
        }
        guard isWhole, let position = try? name.resolve(in: tree), let index = position.characteristic else {
            return nil
        }
        guard position.descriptor == nil else { return [] }
        let characteristic = profile.services[position.service].characteristics[index]
        return characteristic.layout.map { [$0] } ?? []
    }

    /// The possible kinds of access to each attribute, in attribute order.
    private var uses: [Set<EventCatalog.AttributeUse>] {
        profile.services.indices.flatMap { service in
            let characteristics = profile.services[service].characteristics
            return characteristics.indices.flatMap { index in
                let descriptors = characteristics[index].descriptors.indices.map { Optional($0) }
                return ([nil] + descriptors).map {
                    uses(at: .init(service: service, characteristic: index, descriptor: $0))
                }
            }
        }
    }

    private func uses(at position: AttributeTree.Position) -> Set<EventCatalog.AttributeUse> {
        guard let index = position.characteristic else { return [] }
        let characteristic = profile.services[position.service].characteristics[index]
        let properties =
            position.descriptor.map { characteristic.descriptors[$0].properties } ?? characteristic.properties
        var uses: Set<EventCatalog.AttributeUse> = [.any]
        if properties.contains(.read) { uses.insert(.read) }
        if !properties.isDisjoint(with: .anyWrite) { uses.insert(.write) }
        guard position.descriptor == nil else { return uses }
        if !properties.isDisjoint(with: .anyUpdate) { uses.insert(.update) }
        if properties.contains(.indicate) { uses.insert(.indicate) }
        if !characteristic.asked.isEmpty { uses.insert(.ask) }
        return uses
    }

    /// Returns the name of a characteristic or descriptor of the device that is nearest to a text.
    func nearest(to text: String) -> String? {
        var names: [String] = []
        for service in tree.services.indices {
            for index in tree.services[service].characteristics.indices {
                let position = AttributeTree.Position(service: service, characteristic: index)
                let uuid = tree.services[service].characteristics[index].uuid
                names += [tree.shortName(of: position), tree.path(of: position)]
                if let name = AssignedNumbers.name(of: uuid) { names.append(name) }
            }
        }
        return NearestName.of(text, among: names)
    }
}
