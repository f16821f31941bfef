public import MynahCore

/// What concerns the phone as a whole, whichever manager is meant.
public enum PhoneEvent: Sendable {
    /// The Bluetooth state changed.
    case stateChanged(RadioState)
    /// What the radio can do changed.
    case capabilitiesChanged(RadioCapabilities)
    /// The radio is gone, and will be back by itself if it can.
    case lost(RadioError)
    /// It is back, and what was published and advertised is again.
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
    /// Pairing wants something of the device; answered as `PairingStep` says.
    case pairing(Central, PairingStep)
    /// What goes on the air changed.
    case advertisingChanged(AdvertisingReport)
    /// A warning.
    case warning(RadioWarning)
}

/// What listens to a phone, synchronously and on its executor.
public protocol PhoneSink: Sendable {
    /// Called in the order in which things happened; only `.pairing` wants an answer.
    func handle(_ event: PhoneEvent) -> RadioAnswer
}
