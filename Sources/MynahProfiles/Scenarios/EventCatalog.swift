/// The events of a device, each with the part of a profile that it requires, and with its possible fields.
///
/// The catalog is generated from `EventTable`. `check` uses it, because a scenario step that waits for an
/// impossible event would wait forever.
package enum EventCatalog {
    /// The part of a profile that an event requires.
    enum Need: Hashable, Sendable {
        /// Every device can report the event.
        case nothing
        /// The event cannot happen in a scenario, for this reason.
        case never(String)
        /// An app plays the device.
        case app
        /// The app has a background mode.
        case backgroundMode
        /// The app, or one of its central managers, has a restore identifier.
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
        /// The device has an attribute that allows this kind of access.
        case attribute(AttributeUse)

        /// Whether the event concerns an attribute of a device to which the app connects, and not the app's
        /// own device.
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

    struct Entry: Sendable {
        let need: Need
        let fields: Set<String>
    }

    /// Returns the entry of an event, or `nil` if there is no event with this name.
    static func entry(_ name: String) -> Entry? { entries[name] }

    /// The names of all events, in the order in which the documentation lists them.
    package static let names = EventTable.rows.map(\.name.rawValue)

    /// Returns the fields of an event, without the decoded fields of its value.
    package static func fields(of name: String) -> Set<String> { entries[name]?.fields ?? [] }

    private static let entries = Dictionary(
        uniqueKeysWithValues: EventTable.rows.map { row in
            (row.name.rawValue, Entry(need: row.need, fields: Set(row.fields.map(\.key) + common)))
        })

    private static let common = ["device", "queued"]
}
