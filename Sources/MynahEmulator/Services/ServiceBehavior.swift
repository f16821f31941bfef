import MynahCore
import MynahProfiles
import MynahValues

/// The behavior of a service beyond storing its values: a state machine without I/O.
///
/// A behavior answers writes to its characteristics, and returns effects: values to store and values to
/// send. The driver carries the effects out, and sends values after the write response.
protocol ServiceBehavior: Sendable {
    /// The characteristics whose writes the behavior answers; a written value is stored only by an effect.
    var handled: [BluetoothUUID] { get }
    /// The characteristics whose values the behavior itself changes.
    var changed: [BluetoothUUID] { get }
    /// The characteristics whose values only the behavior sends.
    ///
    /// The key `every` of such a characteristic sets the interval of the behavior.
    var sent: [BluetoothUUID] { get }
    /// Returns the name by which the behavior refers to a characteristic.
    ///
    /// The name is the characteristic's UUID, unless several characteristics share it.
    func name(of characteristic: Profile.Characteristic) -> BluetoothUUID
    /// Returns the time on the device's clock at which `tick` must be called.
    ///
    /// Returns `nil` if the behavior waits for a request, or for space in a link's send queue.
    func due(_ service: some ServiceState) -> Duration?

    /// Starts the behavior when the device starts, and again after the values were reset.
    mutating func begin(_ service: some ServiceState) -> [ServiceEffect]
    /// Carries out a central's write of a whole value, or throws the ATT error of the response.
    mutating func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [ServiceEffect]
    /// Returns the whole value for a central's read, or `nil` if the stored value is the answer.
    ///
    /// Throws the ATT error of the response.
    func read(
        _ characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [UInt8]?
    /// Handles a new subscription; `central` is `nil` if the radio does not identify it.
    mutating func subscribed(
        _ central: Peer.ID?, to characteristic: BluetoothUUID, _ service: some ServiceState
    ) -> [ServiceEffect]
    /// Handles the end of a subscription; `central` is `nil` if the radio does not identify it.
    mutating func unsubscribed(_ central: Peer.ID?, from characteristic: BluetoothUUID)
    /// Handles the confirmation of an indication; `central` is `nil` if the radio does not identify it.
    mutating func confirmed(
        _ central: Peer.ID?, _ characteristic: BluetoothUUID, _ service: some ServiceState
    ) -> [ServiceEffect]
    /// Carries out the actions whose time has come.
    mutating func tick(_ service: some ServiceState) -> [ServiceEffect]
    /// Handles a new link of a central.
    mutating func linkBegan(_ central: Peer.ID) -> [ServiceEffect]
    /// Handles the end of a central's link; `isLost` is `false` if one of the sides ended it.
    mutating func linkEnded(
        _ central: Peer.ID, isLost: Bool, _ service: some ServiceState
    ) -> [ServiceEffect]
    /// Handles the end of a central's link, for any reason.
    mutating func disconnected(_ central: Peer.ID)
}

extension ServiceBehavior {
    var changed: [BluetoothUUID] { [] }
    var sent: [BluetoothUUID] { [] }
    func name(of characteristic: Profile.Characteristic) -> BluetoothUUID { characteristic.uuid }
    func due(_ service: some ServiceState) -> Duration? { nil }
    mutating func begin(_ service: some ServiceState) -> [ServiceEffect] { [] }
    func read(
        _ characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [UInt8]? { nil }
    mutating func subscribed(
        _ central: Peer.ID?, to characteristic: BluetoothUUID, _ service: some ServiceState
    ) -> [ServiceEffect] { [] }
    mutating func unsubscribed(_ central: Peer.ID?, from characteristic: BluetoothUUID) {}
    mutating func confirmed(
        _ central: Peer.ID?, _ characteristic: BluetoothUUID, _ service: some ServiceState
    ) -> [ServiceEffect] { [] }
    mutating func linkBegan(_ central: Peer.ID) -> [ServiceEffect] { [] }
    mutating func linkEnded(
        _ central: Peer.ID, isLost: Bool, _ service: some ServiceState
    ) -> [ServiceEffect] {
        disconnected(central)
        return []
    }
    mutating func tick(_ service: some ServiceState) -> [ServiceEffect] { [] }
    mutating func disconnected(_ central: Peer.ID) {}
}

/// A change or an action that a behavior requests from its driver.
enum ServiceEffect: Equatable {
    /// The characteristic has this value from now on.
    case store([UInt8], of: BluetoothUUID)
    /// The profile's values of the characteristic are changed in this way from now on; `nil` ends the
    /// change.
    case change(ValueChange?, of: BluetoothUUID)
    /// A value is sent to one subscribed central, or to all subscribers if the central is `nil`.
    case send([UInt8], of: BluetoothUUID, to: Peer.ID?)
    /// The device alerts its user at this level.
    ///
    /// The cause is an action of the central, or a change of its link.
    case alert(UInt8, of: BluetoothUUID, by: Peer.ID, because: AlertCause)
    /// The device restarts: every link ends after the queued values are sent.
    case restart
}

/// The state of a service that a behavior can read.
protocol ServiceState {
    /// The time on the device's clock.
    var now: Duration { get }
    /// Returns the current whole value, or `nil` if the service has no such characteristic.
    func value(of characteristic: BluetoothUUID) -> [UInt8]?
    /// Returns the profile's value for a tick, as if no value had been stored or changed.
    func original(of characteristic: BluetoothUUID, at tick: UInt64) -> [UInt8]?
    /// Returns the number of the latest tick of the characteristic's value.
    func tick(of characteristic: BluetoothUUID) -> UInt64
    /// Returns the time between two ticks of a characteristic.
    func interval(of characteristic: BluetoothUUID) -> Duration
    /// Returns the layout of the characteristic's value, or `nil` if it is not known.
    func layout(of characteristic: BluetoothUUID) -> ValueLayout?
    /// Whether the central is subscribed, or may be one of the subscribers that the radio does not identify.
    func isSubscribed(_ central: Peer.ID, to characteristic: BluetoothUUID) -> Bool
    /// Returns the subscribed centrals.
    ///
    /// A single `nil` means all of them, on a radio that cannot address one.
    func targets(of characteristic: BluetoothUUID) -> [Peer.ID?]
    /// Returns the subscribed centrals that the radio identifies, in the order of their identifiers.
    func subscribers(of characteristic: BluetoothUUID) -> [Peer.ID]
    /// Whether any central is subscribed.
    func hasSubscribers(of characteristic: BluetoothUUID) -> Bool
    /// Whether a value of the characteristic for the central waits for space in the send queue.
    func isSending(_ characteristic: BluetoothUUID, to central: Peer.ID) -> Bool
    /// Whether any value of the service for the central waits for space in the send queue.
    func isSending(to central: Peer.ID) -> Bool
    /// Returns the length of the longest notification value for the central, in bytes.
    func longestUpdate(to central: Peer.ID) -> Int
}

extension ServiceState {
    /// Returns the fields of the current value, or an empty list if the layout is not known.
    func fields(of characteristic: BluetoothUUID) -> [NamedField] {
        guard let value = value(of: characteristic) else { return [] }
        return layout(of: characteristic)?.decode(value) ?? []
    }

    /// Throws an ATT error if a central cannot receive the response to a control point request now.
    ///
    /// The central must be subscribed, and no earlier response may be waiting.
    func checkIsConfigured(
        _ controlPoint: BluetoothUUID, for central: Peer.ID,
        otherwise unconfigured: ATTError = .cccdImproperlyConfigured,
        busy: ATTError = .procedureAlreadyInProgress
    ) throws(ATTError) {
        guard isSubscribed(central, to: controlPoint) else { throw unconfigured }
        guard !isSending(controlPoint, to: central) else { throw busy }
    }
}
