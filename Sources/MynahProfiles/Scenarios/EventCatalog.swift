/// The events of a device: for each, the part of a profile that it needs, and the fields that it can have.
///
/// The catalog is generated from `EventTable`. `check` uses it, because a step that waits for an impossible
/// event would wait for ever.
package enum EventCatalog {
    /// The part of a profile without which an event cannot happen.
    enum Need: Hashable, Sendable {
        /// Every device can report the event.
        case nothing
        /// The event cannot happen in a scenario.
        case never(String)
        /// An app plays the device.
        case app
        /// The app has a background mode.
        case backgroundMode
        /// The app has a restore identifier, or one of its central managers.
        case restoreIdentifier
        /// The app is a central.
        case central
        /// The app connects to a device.
        case connection
        /// The app reads a characteristic of a device.
        case centralRead
        /// The app subscribes to a characteristic of a device.
        case centralSubscription
        /// The app writes a characteristic of a device.
        case centralWrite
        /// The device has an attribute that allows this use.
        case attribute(AttributeUse)

        /// Whether the event concerns an attribute of a device that the app connects to, and not the device's
        /// own.
        var isOfCentral: Bool {
            switch self {
            case .central, .connection, .centralRead, .centralSubscription, .centralWrite: true
            case .nothing, .never, .app, .backgroundMode, .restoreIdentifier, .attribute: false
            }
        }
    }

    /// A kind of access to an attribute by a central.
    enum AttributeUse: String, Hashable, Sendable {
        case any, read, write, update, indicate, ask
    }

    /// An event.
    struct Entry: Sendable {
        let need: Need
        let fields: Set<String>
    }

    /// The entry of an event, or `nil` if there is no event with this name.
    static func entry(_ name: String) -> Entry? { entries[name] }

    /// The names of all events, in the order in which the documentation lists them.
    package static let names = EventTable.rows.map(\.name.rawValue)

    /// The fields of an event, without the decoded fields of its value.
    package static func fields(of name: String) -> Set<String> { entries[name]?.fields ?? [] }

    private static let entries = Dictionary(
        uniqueKeysWithValues: EventTable.rows.map { row in
            (row.name.rawValue, Entry(need: row.need, fields: Set(row.fields.map(\.key) + common)))
        })

    private static let common = ["device", "queued"]
}
