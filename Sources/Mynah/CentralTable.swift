import MynahCore

/// The connected centrals of a phone.
///
/// Belongs to a phone, and runs on the phone's executor.
final class CentralTable {
    private var connected: [Peer.ID: Central] = [:]
    /// The peripherals that the phone is connected to; they may use the phone's services on the same links.
    private var peripherals: [Peer.ID: Central] = [:]

    /// The centrals that are connected now, in the order of their numbers.
    var all: [Central] { connected.values.sorted { $0.id.rawValue < $1.id.rawValue } }

    /// The details of a central or peripheral, or only its identifier if it has disconnected.
    subscript(id: Peer.ID) -> Central {
        connected[id] ?? peripherals[id] ?? Central(Peer(id: id))
    }

    /// Whether a central is connected now.
    func isConnected(_ id: Peer.ID) -> Bool { connected[id] != nil }

    func removeAll() {
        connected = [:]
        peripherals = [:]
    }

    /// Updates the table after an event of a link to a peripheral; returns the peripheral if the link ended.
    func note(_ event: CentralEvent) -> Central? {
        switch event {
        case .connected(let peer): peripherals[peer.id] = Central(peer)
        case .peerChanged(let peer): peripherals[peer.id] = Central(peer, mtu: peripherals[peer.id]?.mtu)
        case .mtuChanged(let id, let mtu): peripherals[id]?.mtu = mtu
        case .paired(let id): peripherals[id]?.isPaired = true
        case .disconnected(let id, _): return peripherals.removeValue(forKey: id)
        default: break
        }
        return nil
    }

    /// Updates the table after an event of the radio; returns the events to report to the phone's sink and to
    /// its managers.
    ///
    /// Returns `nil` if the event is not about a link, or changes nothing.
    func note(_ event: RadioEvent) -> (phone: PhoneEvent, managers: PeripheralEvent?)? {
        switch event {
        case .connected(let peer):
            let central = Central(peer, mtu: connected[peer.id]?.mtu)
            connected[peer.id] = central
            return (.connected(central), .connected(central))
        case .disconnected(let id):
            guard let central = connected.removeValue(forKey: id) else { return nil }
            return (.disconnected(central), .disconnected(central))
        case .linkLost(let id):
            connected[id]?.isLost = true
            return nil
        case .peerChanged(let peer):
            guard let known = connected[peer.id] else { return nil }
            let central = Central(peer, mtu: known.mtu)
            connected[peer.id] = central
            return (.centralChanged(central), nil)
        case .mtuChanged(let id, let mtu):
            var central = self[id]
            central.mtu = mtu
            connected[id] = central
            return (.mtuChanged(central), .mtuChanged(central))
        case .paired(let id):
            var central = self[id]
            central.isPaired = true
            if connected[id] != nil { connected[id] = central }
            return (.paired(central), nil)
        case .parameters(let id, let report): return (.parameters(self[id], report), nil)
        case .refused(let request): return (.refused(request, self[request.central]), nil)
        default: return nil
        }
    }
}
