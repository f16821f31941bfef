import MynahCore

/// What a phone knows of its links to peripherals.
struct CentralLinks {
    /// One link.
    struct Entry {
        var peer: Peer
        /// The ATT_MTU, in bytes.
        var mtu = GATT.defaultMTU
        /// The services that were found, for whichever app.
        var services: Set<BluetoothUUID> = []
    }

    private var entries: [Peer.ID: Entry] = [:]

    /// How many there are.
    var count: Int { entries.count }

    /// What is known of a link, or `nil` if it ended.
    subscript(id: Peer.ID) -> Entry? {
        get { entries[id] }
        set { entries[id] = newValue }
    }

    /// Takes what the radio reports of a link.
    mutating func take(_ event: CentralEvent) {
        switch event {
        case .connected(let peer): entries[peer.id] = Entry(peer: peer)
        case .peerChanged(let peer): entries[peer.id]?.peer = peer
        case .mtuChanged(let id, let mtu): entries[id]?.mtu = mtu
        case .paired(let id): entries[id]?.peer.isPaired = true
        default: break
        }
    }
}
