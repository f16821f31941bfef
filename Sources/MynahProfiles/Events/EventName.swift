/// The names of the event stream.
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
    case faultApplied = "fault.applied"
    case scenarioEnded = "scenario.ended"
    case radioUsed = "radio.used"
    case radioLost = "radio.lost"
    case radioRecovered = "radio.recovered"
    case warning
    case error
}
