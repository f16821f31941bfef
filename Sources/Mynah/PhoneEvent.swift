public import MynahCore

/// An event of a phone as a whole.
public enum PhoneEvent: Sendable {
    /// The Bluetooth state changed.
    case stateChanged(RadioState)
    /// The capabilities of the radio changed.
    case capabilitiesChanged(RadioCapabilities)
    /// The radio is lost, and recovers by itself if it can.
    case lost(RadioError)
    /// The radio recovered, with its services and its advertising.
    case recovered
    /// A central connected.
    case connected(Central)
    /// The name, the address or the bond of a central changed.
    case centralChanged(Central)
    /// A central disconnected.
    case disconnected(Central)
    /// The ATT_MTU of a central's link became known or changed.
    case mtuChanged(Central)
    /// The connection parameters of a central's link changed, or others were requested.
    case parameters(Central, ConnectionParameterReport)
    /// The connection parameters of the link to a device of the phone's apps changed, or the device requested
    /// others.
    case peripheralParameters(DeviceAddress, ConnectionParameterReport)
    /// A central paired.
    case paired(Central)
    /// A pairing with a central needs an answer, as `PairingStep` describes.
    case pairing(Central, PairingStep)
    /// A pairing with a peripheral of the phone's apps needs an answer, as `PairingStep` describes.
    case peripheralPairing(Peer, PairingStep)
    /// A central read a static value of an app that does not run, and the system answered with these bytes.
    case answeredRead(ReadRequest, Central, [UInt8])
    /// A request failed with an error, which the radio or the phone sent, and not a manager.
    case refused(RefusedRequest, Central)
    /// The phone advertises different data, or at a different interval.
    case advertisingChanged(AdvertisingReport)
    /// An app gave up its connection to a device, but the apps with these names still use the link.
    case linkKept(DeviceAddress, by: [String])
    /// The link to a device of the phone's apps ended on the air.
    case linkEnded(DeviceAddress)
    /// An alert was shown, opened or dismissed.
    case alert(PhoneAlert, PhoneAlert.Step)
    /// The phone or its radio gave a warning.
    case warning(RadioWarning)
}

/// An alert on the phone's screen.
///
/// The alert is about a device of a suspended app (CBConnectPeripheralOptionNotifyOn…Key), or about Bluetooth
/// that is off (CBCentralManagerOptionShowPowerAlertKey).
public struct PhoneAlert: Hashable, Sendable {
    /// The event that an alert reports.
    public enum Cause: String, Hashable, Sendable {
        /// The device connected.
        case connection
        /// The device disconnected.
        case disconnection
        /// The device sent a notification or an indication.
        case notification
        /// The app made a central manager while Bluetooth was off; opening the alert leads to Settings.
        case power
    }

    /// A change of an alert.
    public enum Step: String, Hashable, Sendable {
        /// The alert is on the screen.
        case shown
        /// The user opened the alert, which opened its app or Settings.
        case opened
        /// The alert was removed without being opened.
        case dismissed
    }

    /// The name of the app.
    public var app: String
    /// The event that the alert reports.
    public var cause: Cause
    /// The address of the device, or `nil` if the alert is about Bluetooth that is off.
    public var address: DeviceAddress?
}

/// Receives the events of a phone, synchronously on its executor.
public protocol PhoneSink: Sendable {
    /// Handles one event; events come in order, and only `.pairing` and `.peripheralPairing` need an answer.
    func handle(_ event: PhoneEvent) -> RadioAnswer
}
