public import MynahCore
import MynahSupport

// What the radio tells.
extension CentralManager: CentralSink {
    /// Keeps what is known of each peripheral, and passes the event on.
    public nonisolated func handle(_ event: CentralEvent) -> RadioAnswer {
        assumeIsolated { $0.route(event) }
    }

    private func route(_ event: CentralEvent) -> RadioAnswer {
        switch event {
        case .stateChanged(let new):
            state = new
            tell(.stateChanged(new))
        case .lost(let error): tell(.lost(error))
        case .recovered: tell(.recovered)
        case .heard(let report): heard(report)
        case .connected(let peer):
            guard let peripheral = peripheral(of: peer) else { return .none }
            connected[peer.id] = peripheral
            peripheral.assumeIsolated { $0.connected(peer) }
            tell(.connected(peripheral))
        case .peerChanged(let peer):
            guard let peripheral = connected[peer.id] else { return .none }
            peripheral.assumeIsolated { $0.changed(peer) }
            // By its identity from now on, where it was met by another address and has paired.
            if let address = peer.address, peripherals[address] == nil { peripherals[address] = peripheral }
        case .disconnected(let id, let error):
            guard let peripheral = connected.removeValue(forKey: id) else { return .none }
            peripheral.assumeIsolated { $0.disconnected() }
            tell(.disconnected(peripheral, error))
        case .mtuChanged(let id, let mtu):
            guard let peripheral = connected[id] else { return .none }
            peripheral.assumeIsolated { $0.mtu = mtu }
            tell(.mtuChanged(peripheral, mtu))
        case .paired(let id):
            guard let peripheral = connected[id] else { return .none }
            peripheral.assumeIsolated { $0.isPaired = true }
            tell(.paired(peripheral))
        case .pairing(let id, let step):
            guard let peripheral = connected[id] else { return .none }
            return tell(.pairing(peripheral, step))
        case .notified(let id, let handle, let value, let delivery):
            guard let peripheral = connected[id] else { return .none }
            notified(peripheral, handle, value, delivery)
        case .readyToWrite: tell(.readyToWrite)
        case .warning(let warning): tell(.warning(warning))
        }
        return .none
    }

    /// The peripheral that a link is to: the one of its address, or the one that was asked for by another address of it.
    private func peripheral(of peer: Peer) -> Peripheral? {
        if let asked = connecting.first(where: { $0.address == peer.address }) { return asked }
        if let address = peer.address, let known = peripherals[address] { return known }
        return connecting.first ?? peer.address.map { peripheral(at: $0) }
    }

    private func notified(
        _ peripheral: Peripheral, _ handle: UInt16, _ value: [UInt8], _ delivery: Delivery
    ) {
        let characteristic = peripheral.assumeIsolated { $0.characteristic(withHandle: handle) }
        if characteristic?.uuid == Self.serviceChanged {
            var reader = ByteReader(value)
            guard let start = reader.readUInt16(), let end = reader.readUInt16(), start <= end else { return }
            peripheral.assumeIsolated { $0.forgetServices(in: start...end) }
            tell(.servicesChanged(peripheral, start...end))
            return
        }
        tell(
            .valueUpdated(
                ValueUpdate(
                    peripheral: peripheral, characteristic: characteristic, handle: handle, value: value,
                    delivery: delivery)))
    }

    private static let serviceChanged = BluetoothUUID(0x2A05 as UInt16)
}
