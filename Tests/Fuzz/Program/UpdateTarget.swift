import MynahCore
import MynahValues

@testable import MynahEmulator

extension FuzzTarget {
    /// Requests of MCUmgr and of Nordic's secure DFU, in writes of any length: each is answered or waits.
    static let update = FuzzTarget("update") { bytes in
        if let value = try? CBOR(decoding: bytes) {
            precondition((try? CBOR(decoding: value.encoded)) == value, "it is written otherwise")
        }
        _ = try? InitPacket(bytes)
        var (manager, update) = (MCUManager(), SecureUpdate())
        var service = FuzzedService()
        for (kind, body) in Steps(bytes) {
            switch kind % 4 {
            case 0: take(try? manager.write(body, to: MCUManager.characteristic, by: .init(1), service))
            case 1: take(try? update.write(body, to: SecureUpdate.controlPoint, by: .init(1), service))
            case 2: take(try? update.write(body, to: SecureUpdate.packet, by: .init(1), service))
            default:
                service.now += .milliseconds(250)
                take(manager.tick(service) + update.tick(service))
            }
        }
        precondition(manager.slots.primary.hash.count == ImageSlots.hashLength, "a slot without a hash runs")
    }

    private static func take(_ effects: [ServiceEffect]?) {
        for case .send(let value, _, _) in effects ?? [] {
            precondition(value.count <= FuzzedService.longest, "a value is longer than the link carries")
        }
    }
}

/// A service whose every value is the radio's, for one central that is subscribed to everything.
private struct FuzzedService: ServiceState {
    static let longest = 20

    var now = Duration.zero

    func value(of characteristic: BluetoothUUID) -> [UInt8]? { nil }
    func original(of characteristic: BluetoothUUID, at tick: UInt64) -> [UInt8]? { nil }
    func tick(of characteristic: BluetoothUUID) -> UInt64 { 0 }
    func interval(of characteristic: BluetoothUUID) -> Duration { .seconds(1) }
    func layout(of characteristic: BluetoothUUID) -> ValueLayout? { nil }
    func isSubscribed(_ central: Peer.ID, to characteristic: BluetoothUUID) -> Bool { true }
    func targets(of characteristic: BluetoothUUID) -> [Peer.ID?] { [.init(1)] }
    func subscribers(of characteristic: BluetoothUUID) -> [Peer.ID] { [.init(1)] }
    func hasSubscribers(of characteristic: BluetoothUUID) -> Bool { true }
    func isSending(_ characteristic: BluetoothUUID, to central: Peer.ID) -> Bool { false }
    func isSending(to central: Peer.ID) -> Bool { false }
    func longestUpdate(to central: Peer.ID) -> Int { Self.longest }
}
