import MynahCore
import MynahLifecycle

/// A phone's links to peripherals.
struct CentralLinks {
    /// One link.
    struct Entry {
        var peer: Peer
        /// The ATT_MTU, in bytes.
        var mtu = GATT.defaultMTU
        /// The services that were found, for whichever app.
        var services: Set<BluetoothUUID> = []
        /// Whether the system has asked the device for its name.
        var hasAskedName = false
        /// The managers for whose write without response the link had no room.
        fileprivate var waitingToWrite: [ManagerKey] = []
    }

    private var entries: [Peer.ID: Entry] = [:]

    /// How many there are.
    var count: Int { entries.count }

    /// The state of a link, or `nil` if it ended.
    subscript(id: Peer.ID) -> Entry? {
        get { entries[id] }
        set { entries[id] = newValue }
    }

    /// Forgets a link that ended, and returns what it was.
    mutating func remove(_ id: Peer.ID) -> Entry? { entries.removeValue(forKey: id) }

    /// Notes what the radio reports of a link.
    mutating func note(_ event: CentralEvent) {
        switch event {
        case .connected(let peer): entries[peer.id] = Entry(peer: peer)
        case .peerChanged(let peer): entries[peer.id]?.peer = peer
        case .mtuChanged(let id, let mtu): entries[id]?.mtu = mtu
        case .paired(let id): entries[id]?.peer.isPaired = true
        default: break
        }
    }

    // MARK: Room for writes without response

    /// A link had no room for a manager's write without response.
    mutating func wait(_ manager: ManagerKey, toWriteOn id: Peer.ID) {
        if entries[id]?.waitingToWrite.contains(manager) == false {
            entries[id]?.waitingToWrite.append(manager)
        }
    }

    /// A manager gave up a link that others still use.
    mutating func release(_ id: Peer.ID, by manager: ManagerKey) {
        entries[id]?.waitingToWrite.removeAll { $0 == manager }
    }

    /// The process of a manager is gone.
    mutating func release(by manager: ManagerKey) {
        for id in Array(entries.keys) { release(id, by: manager) }
    }

    /// Returns, once, the managers for whose write a link had no room, in the order of their writes.
    mutating func takeWaitingToWrite(on id: Peer.ID) -> [ManagerKey] {
        defer { entries[id]?.waitingToWrite = [] }
        return entries[id]?.waitingToWrite ?? []
    }
}
