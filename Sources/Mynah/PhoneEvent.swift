public import MynahCore

/// An event that concerns the phone as a whole.
public enum PhoneEvent: Sendable {
    /// The Bluetooth state changed.
    case stateChanged(RadioState)
    /// What the radio can do changed.
    case capabilitiesChanged(RadioCapabilities)
    /// The radio is lost; it recovers by itself if it can.
    case lost(RadioError)
    /// The radio has recovered, and again publishes and advertises what it did before.
    case recovered
    /// A central connected.
    case connected(Central)
    /// What is known of a central changed.
    case centralChanged(Central)
    /// A central is gone.
    case disconnected(Central)
    /// The ATT_MTU of a link became known or changed.
    case mtuChanged(Central)
    /// A central paired.
    case paired(Central)
    /// A step of pairing, to be answered as `PairingStep` describes.
    case pairing(Central, PairingStep)
    /// A step of pairing with a peripheral of the phone's apps, to be answered as `PairingStep` describes.
    case peripheralPairing(Peer, PairingStep)
    /// A central read a static value of an app that does not run, which the system answered with these bytes.
    case answeredRead(ReadRequest, Central, [UInt8])
    /// A request was answered with an error before a manager could answer it.
    case refused(RefusedRequest, Central)
    /// What goes on the air changed.
    case advertisingChanged(AdvertisingReport)
    /// An app released the link to a device, which these apps still use.
    case linkKept(DeviceAddress, by: [String])
    /// A link that apps held to a device is gone from the air.
    case linkEnded(DeviceAddress)
    /// An alert was shown, opened or dismissed.
    case alert(PhoneAlert, PhoneAlert.Step)
    /// A warning.
    case warning(RadioWarning)
}

/// An alert on a phone's screen: something happened to a device of a suspended app that asked for one.
public struct PhoneAlert: Hashable, Sendable {
    /// What an alert is about.
    public enum Cause: String, Hashable, Sendable {
        /// A connection was made.
        case connection
        /// A connection ended.
        case disconnection
        /// A value came that was subscribed to.
        case notification
    }

    /// What happened to an alert.
    public enum Step: String, Hashable, Sendable {
        /// It is on the screen.
        case shown
        /// The user opened its app by it.
        case opened
        /// It is gone without being opened.
        case dismissed
    }

    /// The name of the app.
    public var app: String
    /// What it is about.
    public var cause: Cause
    /// The device.
    public var address: DeviceAddress
}

/// Receives a phone's events, synchronously and on its executor.
public protocol PhoneSink: Sendable {
    /// Called in the order in which things happened; only `.pairing` and `.peripheralPairing` want an answer.
    func handle(_ event: PhoneEvent) -> RadioAnswer
}
