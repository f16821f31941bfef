import MynahCore
import MynahProfiles
import MynahValues

/// The behavior of a service beyond keeping its values: a state machine without I/O.
///
/// Answers the writes of its characteristics, and returns effects: values to keep and to send. A driver
/// carries them out, and sends values after the write response.
protocol ServiceBehavior: Sendable {
    /// The characteristics whose writes it answers; nothing of them is kept, unless an effect says so.
    var handled: [BluetoothUUID] { get }
    /// The characteristics whose values it changes by itself.
    var changed: [BluetoothUUID] { get }
    /// The characteristics whose values it alone sends; their `every` is its pace.
    var sent: [BluetoothUUID] { get }
    /// The name of a characteristic here: its UUID, unless the service has several of that.
    func name(of characteristic: Profile.Characteristic) -> BluetoothUUID
    /// The next time on the device's clock at which it has something to do; `nil` if it waits for a request,
    /// or for room on a link.
    func due(_ service: some ServiceState) -> Duration?

    /// The device starts, or its values are as they were at its start.
    mutating func begin(_ service: some ServiceState) -> [ServiceEffect]
    /// A central writes the whole value; throws the error that it gets.
    mutating func write(
        _ value: [UInt8], to characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [ServiceEffect]
    /// A central reads the whole value; `nil` is the value that is kept. Throws the error that it gets.
    func read(
        _ characteristic: BluetoothUUID, by central: Peer.ID, _ service: some ServiceState
    ) throws(ATTError) -> [UInt8]?
    /// A central has subscribed; `nil` if the radio does not name it.
    mutating func subscribed(
        _ central: Peer.ID?, to characteristic: BluetoothUUID, _ service: some ServiceState
    ) -> [ServiceEffect]
    /// A central has unsubscribed; `nil` if the radio does not name it.
    mutating func unsubscribed(_ central: Peer.ID?, from characteristic: BluetoothUUID)
    /// A central has confirmed an indication; `nil` if the radio does not name it.
    mutating func confirmed(
        _ central: Peer.ID?, _ characteristic: BluetoothUUID, _ service: some ServiceState
    ) -> [ServiceEffect]
    /// Does what is due.
    mutating func tick(_ service: some ServiceState) -> [ServiceEffect]
    /// A central's link has begun.
    mutating func linkBegan(_ central: Peer.ID) -> [ServiceEffect]
    /// A central's link has ended; it was lost, or one of the two has ended it.
    mutating func linkEnded(
        _ central: Peer.ID, isLost: Bool, _ service: some ServiceState
    ) -> [ServiceEffect]
    /// A central's link has ended.
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

/// An effect of an event on the values of a service.
enum ServiceEffect: Equatable {
    /// The characteristic has this value from now on.
    case store([UInt8], of: BluetoothUUID)
    /// The characteristic's own values are changed from now on; `nil` ends that.
    case change(ValueChange?, of: BluetoothUUID)
    /// A value goes to one central, or to all if it is `nil`, as far as they are subscribed.
    case send([UInt8], of: BluetoothUUID, to: Peer.ID?)
    /// The device alerts its user, at a level, because of what a central or its link did.
    case alert(UInt8, of: BluetoothUUID, by: Peer.ID, because: AlertCause)
    /// The device restarts: every link ends, after the values that wait.
    case restart
}

/// The state of a service as its behavior reads it.
protocol ServiceState {
    /// The device's time.
    var now: Duration { get }
    /// The whole value now, or `nil` if the service has no such characteristic.
    func value(of characteristic: BluetoothUUID) -> [UInt8]?
    /// The value that the profile defines for a tick, ignoring stored and changed values.
    func original(of characteristic: BluetoothUUID, at tick: UInt64) -> [UInt8]?
    /// The last due tick of its value.
    func tick(of characteristic: BluetoothUUID) -> UInt64
    /// The time between two ticks.
    func interval(of characteristic: BluetoothUUID) -> Duration
    /// The layout of its value, or `nil` if it is not known.
    func layout(of characteristic: BluetoothUUID) -> ValueLayout?
    /// Whether the central is subscribed, or may be on a radio that does not name subscribers.
    func isSubscribed(_ central: Peer.ID, to characteristic: BluetoothUUID) -> Bool
    /// The centrals that are subscribed; one `nil` for all of them if the radio cannot address one.
    func targets(of characteristic: BluetoothUUID) -> [Peer.ID?]
    /// The centrals that are subscribed, in the order of their identifiers, as far as the radio names them.
    func subscribers(of characteristic: BluetoothUUID) -> [Peer.ID]
    /// Whether any central is subscribed.
    func hasSubscribers(of characteristic: BluetoothUUID) -> Bool
    /// Whether a value for the central waits for room on its link.
    func isSending(_ characteristic: BluetoothUUID, to central: Peer.ID) -> Bool
    /// Whether any value of the service for the central waits for room on its link.
    func isSending(to central: Peer.ID) -> Bool
    /// The longest value that a notification to the central can carry, in bytes.
    func longestUpdate(to central: Peer.ID) -> Int
}

extension ServiceState {
    /// The value now as its fields; empty if its layout is not known.
    func fields(of characteristic: BluetoothUUID) -> [NamedField] {
        guard let value = value(of: characteristic) else { return [] }
        return layout(of: characteristic)?.decode(value) ?? []
    }

    /// Throws the error for a request to a control point that the central cannot have answered now.
    func checkIsConfigured(
        _ controlPoint: BluetoothUUID, for central: Peer.ID,
        otherwise unconfigured: ATTError = .cccdImproperlyConfigured,
        busy: ATTError = .procedureAlreadyInProgress
    ) throws(ATTError) {
        guard isSubscribed(central, to: controlPoint) else { throw unconfigured }
        guard !isSending(controlPoint, to: central) else { throw busy }
    }
}
