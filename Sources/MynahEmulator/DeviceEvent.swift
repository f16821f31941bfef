package import MynahCore
public import MynahSupport

/// One thing that happened to an emulated device, as the event stream reports it.
public struct DeviceEvent: Hashable, Sendable {
    /// The names of the event stream.
    public enum Name: String, Hashable, Sendable, CaseIterable {
        case ready
        case advertisingStarted = "advertising.started"
        case advertisingChanged = "advertising.changed"
        case advertisingStopped = "advertising.stopped"
        case centralConnected = "central.connected"
        case centralDisconnected = "central.disconnected"
        case mtuChanged = "mtu.changed"
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
        case scanStarted = "scan.started"
        case scanChanged = "scan.changed"
        case scanPaused = "scan.paused"
        case scanStopped = "scan.stopped"
        case peripheralDiscovered = "peripheral.discovered"
        case peripheralConnecting = "peripheral.connecting"
        case peripheralConnected = "peripheral.connected"
        case peripheralFailedToConnect = "peripheral.failedToConnect"
        case peripheralDisconnected = "peripheral.disconnected"
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
        case faultApplied = "fault.applied"
        case scenarioEnded = "scenario.ended"
        case radioUsed = "radio.used"
        case radioLost = "radio.lost"
        case radioRecovered = "radio.recovered"
        case warning
        case error
    }

    /// When it happened.
    public var time: WallTime
    /// The event's name.
    public var name: Name
    /// Its fields, in the order in which they are written.
    public var fields: [JSON.Member]
    /// The layout of its value, or `nil` if it has the SIG's for its characteristic, or none.
    package var layout: ValueLayout?

    /// An event.
    public init(time: WallTime, name: Name, fields: [JSON.Member] = []) {
        self.time = time
        self.name = name
        self.fields = fields
    }

    /// The field of this key.
    public subscript(key: String) -> JSON? {
        fields.first { $0.key == key }?.value
    }

    /// The text of a field that holds text.
    public func string(_ key: String) -> String? {
        guard case .string(let text)? = self[key] else { return nil }
        return text
    }

    /// Adds `device`, unless the event has a device already or `device` is `nil`.
    package func named(_ device: String?) -> DeviceEvent {
        guard let device, self["device"] == nil else { return self }
        var event = self
        event.fields.insert(.init("device", .string(device)), at: 0)
        return event
    }

    /// The whole event as one JSON object, with the fields of its value (`fields`).
    public var json: JSON {
        .object(
            [.init("time", .string(time.rfc3339)), .init("event", .string(name.rawValue))]
                + fieldsWithValueFields)
    }

    /// Reads an event as `json` writes it, or the journal; `nil` if it is none of this version.
    package init?(json: JSON) {
        guard case .object(let members) = json,
            let name = members.first(where: { $0.key == "event" })?.value.stringValue.flatMap(Name.init),
            let time = members.first(where: { $0.key == "time" })?.value.stringValue.flatMap(
                WallTime.init(rfc3339:))
        else { return nil }
        self.init(
            time: time, name: name,
            fields: members.filter { !["seq", "time", "event", "differs"].contains($0.key) })
    }
}
