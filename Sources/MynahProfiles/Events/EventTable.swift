import MynahCore
package import MynahSupport
import MynahValues

/// The names of the events that devices report.
public enum EventName: String, Hashable, Sendable, CaseIterable {
    case ready
    case advertisingStarted = "advertising.started"
    case advertisingChanged = "advertising.changed"
    case advertisingStopped = "advertising.stopped"
    case centralConnected = "central.connected"
    case centralDisconnected = "central.disconnected"
    case mtuChanged = "mtu.changed"
    case parametersRequested = "parameters.requested"
    case parametersChanged = "parameters.changed"
    case paired
    case pairingPasskey = "pairing.passkey"
    case read
    case write
    case requestRefused = "request.refused"
    case requestAsked = "request.asked"
    case requestUnanswered = "request.unanswered"
    case subscribed
    case unsubscribed
    case notified
    case confirmed
    case alertChanged = "alert.changed"
    case stateChanged = "state.changed"
    case appLaunched = "app.launched"
    case appForeground = "app.foreground"
    case appBackground = "app.background"
    case appSuspended = "app.suspended"
    case appWoken = "app.woken"
    case appThrottled = "app.throttled"
    case appExtraneous = "app.extraneous"
    case appTerminated = "app.terminated"
    case appQuit = "app.quit"
    case appRestored = "app.restored"
    case appAuthorization = "app.authorization"
    case appNotRelaunched = "app.notRelaunched"
    case phoneChanged = "phone.changed"
    case accessoryAdded = "accessory.added"
    case accessoryRemoved = "accessory.removed"
    case scanStarted = "scan.started"
    case scanChanged = "scan.changed"
    case scanPaused = "scan.paused"
    case scanStopped = "scan.stopped"
    case peripheralDiscovered = "peripheral.discovered"
    case peripheralConnecting = "peripheral.connecting"
    case peripheralConnected = "peripheral.connected"
    case peripheralFailedToConnect = "peripheral.failedToConnect"
    case peripheralDisconnected = "peripheral.disconnected"
    case nameUpdated = "name.updated"
    case peerConnected = "peer.connected"
    case peerDisconnected = "peer.disconnected"
    case peripheralsRetrieved = "peripherals.retrieved"
    case servicesDiscovered = "services.discovered"
    case characteristicsDiscovered = "characteristics.discovered"
    case servicesChanged = "services.changed"
    case valueRead = "value.read"
    case valueUpdated = "value.updated"
    case valueWritten = "value.written"
    case notificationChanged = "notification.changed"
    case linkKept = "link.kept"
    case linkEnded = "link.ended"
    case alertShown = "alert.shown"
    case alertOpened = "alert.opened"
    case alertDismissed = "alert.dismissed"
    case channelOpened = "channel.opened"
    case channelSent = "channel.sent"
    case channelReceived = "channel.received"
    case channelClosed = "channel.closed"
    case faultApplied = "fault.applied"
    case scenarioEnded = "scenario.ended"
    case radioUsed = "radio.used"
    case radioLost = "radio.lost"
    case radioRecovered = "radio.recovered"
    case hostJoined = "host.joined"
    case hostLeft = "host.left"
    case warning
    case error
}

/// The events of a device, each with the part of a profile that it requires, and with its fields in order.
///
/// The JSON form of events, the check of scenarios (`EventCatalog`) and the comparison of events with
/// expected ones are derived from this table.
package enum EventTable {
    struct Row: Sendable {
        let name: EventName
        let need: EventCatalog.Need
        private let makeFields: @Sendable () -> [EventField]

        var fields: [EventField] { makeFields() }

        init(
            _ name: EventName, _ need: EventCatalog.Need,
            _ fields: @autoclosure @escaping @Sendable () -> [EventField] = []
        ) {
            self.name = name
            self.need = need
            makeFields = fields
        }
    }

    /// Returns the fields of an event, except `device` and `queued`, which every event can have.
    package static func fields(of name: EventName) -> [EventField] { made[name] ?? [] }

    /// The fields by event, which are made at first use.
    ///
    /// The fields of all events would take 100 kB, and a device reports few kinds of events.
    private static let made = MadeOnce<EventName, [EventField]> { name in
        rows.first { $0.name == name }?.fields
    }

    static let rows: [Row] = ofRun + ofRadio + ofHosts + ofLinks + ofAttributes + ofCentral + ofApp

    private typealias Shapes = PayloadFields

    private static let ofRun = [
        Row(.ready, .never("a scenario begins after it"), Shapes.ready),
        Row(.warning, .nothing, Shapes.notice), Row(.error, .nothing, Shapes.notice),
        Row(.scenarioEnded, .never("a device plays one scenario at a time"), Shapes.scenarioEnd),
    ]

    private static let ofRadio = [
        Row(.stateChanged, .nothing, Shapes.state), Row(.radioLost, .nothing, Shapes.message),
        Row(.radioRecovered, .nothing), Row(.radioUsed, .nothing, Shapes.radio),
        Row(.advertisingStarted, .nothing, Shapes.advertising),
        Row(.advertisingChanged, .nothing, Shapes.advertising),
        Row(.advertisingStopped, .nothing, Shapes.advertisingEnd),
    ]

    /// The events of `mynah air`.
    private static let ofHosts = [
        Row(.hostJoined, .never("it is an event of mynah air"), Shapes.host),
        Row(.hostLeft, .never("it is an event of mynah air"), Shapes.host + Shapes.hostLeft),
    ]

    private static let ofLinks = [
        Row(.centralConnected, .nothing, Shapes.centralName),
        Row(.centralDisconnected, .nothing, Shapes.central), Row(.mtuChanged, .nothing, Shapes.mtu),
        Row(.parametersRequested, .nothing, Shapes.parameterRequest),
        Row(.parametersChanged, .nothing, Shapes.parameters),
        Row(.paired, .nothing, Shapes.paired), Row(.pairingPasskey, .nothing, Shapes.passkey),
        Row(.channelOpened, .nothing, Shapes.channel), Row(.channelClosed, .nothing, Shapes.channel),
        Row(.channelSent, .nothing, Shapes.channelValue),
        Row(.channelReceived, .nothing, Shapes.channelValue), Row(.faultApplied, .nothing, Shapes.fault),
    ]

    private static let ofAttributes = [
        Row(
            .read, .attribute(.read), Shapes.attribute + Shapes.answer + Shapes.value + Shapes.error),
        Row(
            .write, .attribute(.write),
            Shapes.attribute + Shapes.answer + Shapes.value + Shapes.withResponse + Shapes.error),
        Row(.requestRefused, .attribute(.any), Shapes.attribute + Shapes.refusal),
        Row(.requestAsked, .attribute(.ask), Shapes.attribute + Shapes.asked + Shapes.value),
        Row(.requestUnanswered, .attribute(.ask), Shapes.attribute + Shapes.unanswered),
        Row(.subscribed, .attribute(.update), Shapes.attribute + Shapes.delivery),
        Row(.unsubscribed, .attribute(.update), Shapes.attribute),
        Row(.notified, .attribute(.update), Shapes.attribute + Shapes.sent),
        Row(.confirmed, .attribute(.indicate), Shapes.attribute),
        Row(.alertChanged, .attribute(.write), Shapes.attribute + Shapes.value + Shapes.cause),
    ]

    private static let ofCentral = [
        Row(.scanStarted, .central, Shapes.scan), Row(.scanChanged, .central, Shapes.scan),
        Row(.scanPaused, .central, Shapes.scan), Row(.scanStopped, .central, Shapes.scan),
        Row(.peripheralDiscovered, .central, Shapes.discovery),
        Row(.peripheralConnecting, .connection, Shapes.link),
        Row(.peripheralConnected, .connection, Shapes.link + Shapes.local),
        Row(.peripheralFailedToConnect, .connection, Shapes.link + Shapes.failure),
        Row(
            .peripheralDisconnected, .connection,
            Shapes.link + Shapes.local + Shapes.waits + Shapes.failure),
        Row(.nameUpdated, .connection, Shapes.link), Row(.peripheralsRetrieved, .central, Shapes.retrieval),
        Row(.peerConnected, .central, Shapes.link), Row(.peerDisconnected, .central, Shapes.link),
        Row(.servicesDiscovered, .connection, Shapes.remote + Shapes.uuids),
        Row(
            .characteristicsDiscovered, .connection,
            Shapes.remote + Shapes.remoteService + Shapes.uuids),
        Row(.servicesChanged, .connection, Shapes.remote + Shapes.uuids),
        Row(.valueRead, .centralRead, Shapes.remoteValue + Shapes.remoteError),
        Row(.valueUpdated, .centralSubscription, Shapes.remoteValue + Shapes.remoteError),
        Row(
            .valueWritten, .centralWrite,
            Shapes.remoteValue + Shapes.remoteResponse + Shapes.remoteError),
        Row(
            .notificationChanged, .centralSubscription,
            Shapes.remoteAttribute + Shapes.isOn + Shapes.remoteError),
        Row(.linkKept, .central, Shapes.link + Shapes.heldBy),
        Row(.linkEnded, .central, Shapes.link + Shapes.heldBy),
        Row(.alertShown, .app, Shapes.link + Shapes.alert),
        Row(.alertOpened, .app, Shapes.link + Shapes.alert),
        Row(.alertDismissed, .app, Shapes.link + Shapes.alert),
    ]

    private static let ofApp = [
        Row(.appLaunched, .app, Shapes.launch), Row(.appForeground, .app), Row(.appBackground, .app),
        Row(.appSuspended, .app), Row(.appWoken, .backgroundMode, Shapes.attribute + Shapes.cause),
        Row(.appThrottled, .app), Row(.appExtraneous, .app, Shapes.extraneous),
        Row(.appTerminated, .app, Shapes.termination), Row(.appQuit, .app),
        Row(.appRestored, .restoreIdentifier, Shapes.restoration),
        Row(.appAuthorization, .app, Shapes.authorization),
        Row(.appNotRelaunched, .restoreIdentifier, Shapes.byUser), Row(.phoneChanged, .app, Shapes.byUser),
        Row(.accessoryAdded, .central, Shapes.link), Row(.accessoryRemoved, .central, Shapes.link),
    ]
}

// MARK: - The command connect

extension EventTable {
    /// Returns the fields of an event of `mynah connect`.
    package static func fields(of name: ConnectName) -> [EventField] {
        switch name {
        case .connected: Shapes.connected
        case .disconnected: Shapes.connectionMessage
        case .mtu: Shapes.connectionMTU
        case .rssi: Shapes.rssi
        case .error: Shapes.connectionError
        case .pairingPasskey: fields(of: EventName.pairingPasskey)
        case .services: Shapes.services
        case .servicesChanged: Shapes.handles
        case .read: fields(of: EventName.read)
        case .written: fields(of: EventName.write)
        case .subscribed, .unsubscribed: Shapes.attribute
        // The handle identifies a characteristic that is not known.
        case .notified, .indicated: fields(of: EventName.notified) + Shapes.fromHandle
        case .paired, .forgotten, .help: []
        }
    }
}

// MARK: - JSON

extension EventPayload {
    /// Returns the JSON members of the payload in an event.
    package func members(of name: EventName) -> [JSON.Member] { members(EventTable.fields(of: name)) }

    /// Returns the JSON members for these fields.
    ///
    /// After the member for the value, there is a member `fields` with the decoded value. `read` is that
    /// member if the value was decoded earlier.
    package func whole(_ fields: [EventField], read: JSON? = nil) -> [JSON.Member] {
        var members = members(fields)
        if let index = members.firstIndex(where: { $0.key == "value" }), let json = read ?? valueFields?.json
        {
            members.insert(.init("fields", json), at: index + 1)
        }
        return members
    }

    private func members(_ fields: [EventField]) -> [JSON.Member] {
        fields.compactMap { field in field.json(self).map { .init(field.key, $0) } }
    }
}
