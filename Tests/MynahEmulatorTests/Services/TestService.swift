import MynahCore
import MynahValues

@testable import MynahEmulator

/// A service as a test sets it.
struct TestService: ServiceState {
    static let phone = Peer.ID(1)
    static let other = Peer.ID(2)

    var now = Duration.zero
    var interval = Duration.seconds(1)
    var originals: [BluetoothUUID: @Sendable (UInt64) -> [UInt8]] = [:]
    var changes: [BluetoothUUID: ValueChange] = [:]
    var stored: [BluetoothUUID: [UInt8]] = [:]
    /// The characteristics to which every central is subscribed.
    var subscribed: Set<BluetoothUUID> = []
    /// The characteristics of which a value waits for room.
    var sending: Set<BluetoothUUID> = []
    /// The centrals for which a value waits.
    var waiting: Set<Peer.ID> = []
    var longest = 20
    /// The centrals that are there; `nil` is all of them.
    var connected: [Peer.ID?] = [Self.phone]
    /// The alerts that were raised: levels and causes.
    var alerts: [String] = []
    /// How often the device has restarted.
    var restarts = 0

    private var tick: UInt64 { UInt64(now / interval) }

    func value(of characteristic: BluetoothUUID) -> [UInt8]? {
        if let value = stored[characteristic] { return value }
        guard let original = original(of: characteristic, at: tick) else { return nil }
        return changes[characteristic]?.value(original, at: tick, layout: layout(of: characteristic))
            ?? original
    }

    func original(of characteristic: BluetoothUUID, at tick: UInt64) -> [UInt8]? {
        originals[characteristic]?(tick)
    }

    func tick(of characteristic: BluetoothUUID) -> UInt64 { tick }
    func interval(of characteristic: BluetoothUUID) -> Duration { interval }
    func layout(of characteristic: BluetoothUUID) -> ValueLayout? { KnownLayouts.layout(of: characteristic) }
    func isSubscribed(_ central: Peer.ID, to characteristic: BluetoothUUID) -> Bool {
        subscribed.contains(characteristic)
    }
    func subscribers(of characteristic: BluetoothUUID) -> [Peer.ID] {
        subscribed.contains(characteristic) ? [Self.phone, Self.other] : []
    }
    func hasSubscribers(of characteristic: BluetoothUUID) -> Bool { subscribed.contains(characteristic) }
    func isSending(_ characteristic: BluetoothUUID, to central: Peer.ID) -> Bool {
        sending.contains(characteristic)
    }
    func targets(of characteristic: BluetoothUUID) -> [Peer.ID?] {
        subscribed.contains(characteristic) ? connected : []
    }
    func isSending(to central: Peer.ID) -> Bool { waiting.contains(central) }
    func longestUpdate(to central: Peer.ID) -> Int { longest }

    /// Keeps what an effect changes, and returns the values that are sent.
    mutating func take(_ effects: [ServiceEffect]) -> [Sent] {
        effects.compactMap { effect in
            switch effect {
            case .store(let value, let characteristic):
                stored[characteristic] = value
                return nil
            case .change(let change, let characteristic):
                changes[characteristic] = change
                return nil
            case .send(let value, let characteristic, let central):
                return Sent(value: value, characteristic: characteristic, central: central)
            case .alert(let level, _, let central, let cause):
                alerts.append("\(level) \(cause.rawValue) \(central.rawValue)")
                return nil
            case .restart:
                restarts += 1
                return nil
            }
        }
    }
}

/// A value that a behavior sends.
struct Sent: Equatable {
    var value: [UInt8]
    var characteristic: BluetoothUUID
    var central: Peer.ID?

    init(value: [UInt8], characteristic: BluetoothUUID, central: Peer.ID? = TestService.phone) {
        (self.value, self.characteristic, self.central) = (value, characteristic, central)
    }
}

/// The outcome of a write: what is sent, or the error.
enum WriteOutcome: Equatable {
    case sent([Sent])
    case error(UInt8)

    /// A response on a control point.
    static func response(_ bytes: [UInt8], on controlPoint: BluetoothUUID) -> WriteOutcome {
        .sent([Sent(value: bytes, characteristic: controlPoint)])
    }
}

extension ServiceBehavior {
    /// Carries out a write.
    mutating func outcome(
        of value: [UInt8], to characteristic: BluetoothUUID, by central: Peer.ID = TestService.phone,
        _ service: inout TestService
    ) -> WriteOutcome {
        do throws(ATTError) {
            return .sent(service.take(try write(value, to: characteristic, by: central, service)))
        } catch {
            return .error(error.code)
        }
    }
}
