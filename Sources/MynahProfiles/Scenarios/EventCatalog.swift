/// The events that a device reports: what each needs in a profile, and the fields that it may have.
///
/// Tests compare it with the event stream. `check` reads it, because a step that waits for an event that
/// never happens would wait for ever.
package enum EventCatalog {
    /// The part of a profile without which an event never happens.
    enum Need: Hashable, Sendable {
        /// Any device may report it.
        case nothing
        /// No scenario meets it.
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
        /// The device has an attribute that can be used so.
        case attribute(AttributeUse)

        /// Whether its attribute is one of the device that an app connects to.
        var isOfCentral: Bool {
            switch self {
            case .central, .connection, .centralRead, .centralSubscription, .centralWrite: true
            case .nothing, .never, .app, .backgroundMode, .restoreIdentifier, .attribute: false
            }
        }
    }

    /// A use of an attribute by a central.
    enum AttributeUse: String, Hashable, Sendable {
        case any, read, write, update, indicate, ask
    }

    /// An event.
    struct Entry: Sendable {
        let need: Need
        let fields: Set<String>
    }

    /// The entry of an event, or `nil` if there is no event of this name.
    static func entry(_ name: String) -> Entry? { entries[name] }

    /// The names of all events, in the order in which the documentation lists them.
    package static let names = rows.map(\.name)

    /// The fields of an event, without those of its value.
    package static func fields(of name: String) -> Set<String> { entries[name]?.fields ?? [] }

    private static let entries = Dictionary(
        uniqueKeysWithValues: rows.map { row in
            (row.name, Entry(need: row.need, fields: Set(row.fields + common)))
        })

    // MARK: Fields

    private static let common = ["device", "queued"]
    private static let attribute = ["central", "service", "characteristic", "descriptor", "path"]
    private static let peripheral = ["peripheral", "address", "name", "as"]
    private static let value = ["service", "characteristic", "value", "error", "message"]
    private static let scan = [
        "services", "solicited", "allowDuplicates", "intervalMilliseconds", "windowMilliseconds", "omitted",
    ]
    private static let advertising = [
        "on", "data", "scanResponse", "intervalMilliseconds", "intervalMaximumMilliseconds", "connectable",
        "address", "omitted",
    ]
    private static let alert = peripheral + ["by", "app"]

    // MARK: Events

    private typealias Row = (name: String, need: Need, fields: [String])

    private static let rows: [Row] = ofRun + ofRadio + ofLinks + ofAttributes + ofCentral + ofApp

    private static let ofRun: [Row] = [
        (
            "ready", .never("a scenario begins after it"),
            ["profile", "radio", "address", "services", "control"]
        ),
        ("warning", .nothing, attribute + peripheral + ["code", "message"]),
        ("error", .nothing, attribute + peripheral + ["code", "message"]),
        (
            "scenario.ended", .never("a device plays one scenario at a time"),
            ["scenario", "result", "step", "message"]
        ),
    ]

    private static let ofRadio: [Row] = [
        ("state.changed", .nothing, ["state"]), ("radio.lost", .nothing, ["message"]),
        ("radio.recovered", .nothing, []),
        (
            "radio.used", .nothing,
            [
                "advertisingEvents", "scanSeconds", "linkSeconds", "packetsSent", "packetsReceived",
                "airtimeMilliseconds", "estimated",
            ]
        ),
        ("advertising.started", .nothing, advertising), ("advertising.changed", .nothing, advertising),
        ("advertising.stopped", .nothing, []),
    ]

    private static let ofLinks: [Row] = [
        ("central.connected", .nothing, ["central", "name"]),
        ("central.disconnected", .nothing, ["central"]), ("mtu.changed", .nothing, ["central", "mtu"]),
        ("paired", .nothing, ["central"] + peripheral),
        ("pairing.passkey", .nothing, ["central"] + peripheral + ["step", "passkey", "entered"]),
        ("fault.applied", .nothing, ["fault", "on", "central"]),
    ]

    private static let ofAttributes: [Row] = [
        ("read", .attribute(.read), attribute + ["id", "offset", "value", "error"]),
        ("write", .attribute(.write), attribute + ["id", "offset", "value", "withResponse", "error"]),
        ("request.refused", .attribute(.any), attribute + ["by", "error", "because"]),
        ("request.asked", .attribute(.ask), attribute + ["id", "by", "offset", "value"]),
        ("request.unanswered", .attribute(.ask), attribute + ["id", "by", "error", "because"]),
        ("subscribed", .attribute(.update), attribute + ["delivery"]),
        ("unsubscribed", .attribute(.update), attribute),
        ("notified", .attribute(.update), attribute + ["value", "tick"]),
        ("confirmed", .attribute(.indicate), attribute),
    ]

    private static let ofCentral: [Row] = [
        ("scan.started", .central, scan), ("scan.changed", .central, scan), ("scan.paused", .central, scan),
        ("scan.stopped", .central, scan),
        (
            "peripheral.discovered", .central,
            peripheral + ["rssi", "services", "overflowServices", "coalesced", "data", "scanResponse"]
        ),
        ("peripheral.connecting", .connection, peripheral),
        ("peripheral.connected", .connection, peripheral + ["local"]),
        ("peripheral.failedToConnect", .connection, peripheral + ["message", "code"]),
        (
            "peripheral.disconnected", .connection,
            peripheral + ["local", "pending", "isReconnecting", "message", "code"]
        ),
        ("peripherals.retrieved", .central, ["as", "by", "asked", "found"]),
        ("services.discovered", .connection, peripheral + ["uuids"]),
        ("characteristics.discovered", .connection, peripheral + ["service", "uuids"]),
        ("services.changed", .connection, peripheral + ["uuids"]),
        ("value.read", .centralRead, peripheral + value),
        ("value.updated", .centralSubscription, peripheral + value),
        ("value.written", .centralWrite, peripheral + value + ["withResponse"]),
        (
            "notification.changed", .centralSubscription,
            peripheral + ["service", "characteristic", "on", "error", "message"]
        ),
        ("link.kept", .central, peripheral + ["heldBy"]), ("link.ended", .central, peripheral + ["heldBy"]),
        ("alert.shown", .central, alert), ("alert.opened", .central, alert),
        ("alert.dismissed", .central, alert),
    ]

    private static let ofApp: [Row] = [
        (
            "app.launched", .app, ["restoreIdentifiers", "centralRestoreIdentifiers", "inBackground"]
        ),
        ("app.foreground", .app, []), ("app.background", .app, []), ("app.suspended", .app, []),
        ("app.woken", .backgroundMode, attribute + ["by"]), ("app.throttled", .app, []),
        ("app.extraneous", .app, attribute), ("app.terminated", .app, ["reason"]), ("app.quit", .app, []),
        (
            "app.restored", .restoreIdentifier,
            [
                "role", "restoreIdentifier", "services", "advertising", "subscribers", "scanServices",
                "scanOptions", "peripherals",
            ]
        ),
    ]
}
