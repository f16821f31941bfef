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
    /// A central read a static value of an app that does not run, which the system answered with these bytes.
    case answeredRead(ReadRequest, Central, [UInt8])
    /// A request was answered with an error before a manager could answer it.
    case refused(RefusedRequest, Central)
    /// What goes on the air changed.
    case advertisingChanged(AdvertisingReport)
    /// A warning.
    case warning(RadioWarning)
}

/// Receives a phone's events, synchronously and on its executor.
public protocol PhoneSink: Sendable {
    /// Called in the order in which things happened; only `.pairing` wants an answer.
    func handle(_ event: PhoneEvent) -> RadioAnswer
}
