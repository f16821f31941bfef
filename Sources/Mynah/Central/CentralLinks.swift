import MynahCore
import MynahLifecycle

/// A phone's links to peripherals.
struct CentralLinks {
    /// The state of one link.
    struct Entry {
        var peer: Peer
        /// The ATT_MTU, in bytes.
        var mtu = GATT.defaultMTU
        /// The services that any app discovered on the link.
        var services: Set<BluetoothUUID> = []
        /// Whether the system has asked the device for its name.
        var hasAskedName = false
        /// The managers that wait for buffer space for a write without response.
        fileprivate var waitingToWrite: [ManagerKey] = []
    }

    private var entries: [Peer.ID: Entry] = [:]

    var count: Int { entries.count }

    /// The state of a link, or `nil` if the link has ended.
    subscript(id: Peer.ID) -> Entry? {
        get { entries[id] }
        set { entries[id] = newValue }
    }

    /// Removes a link that ended, and returns its last state.
    mutating func remove(_ id: Peer.ID) -> Entry? { entries.removeValue(forKey: id) }

    /// Updates a link after an event of the radio.
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

    /// Records that a manager's write without response waits for buffer space on a link.
    mutating func wait(_ manager: ManagerKey, toWriteOn id: Peer.ID) {
        if entries[id]?.waitingToWrite.contains(manager) == false {
            entries[id]?.waitingToWrite.append(manager)
        }
    }

    /// Forgets a manager's waiting writes on a link that only other managers still use.
    mutating func release(_ id: Peer.ID, by manager: ManagerKey) {
        entries[id]?.waitingToWrite.removeAll { $0 == manager }
    }

    /// Forgets the waiting writes of a manager whose process has ended.
    mutating func release(by manager: ManagerKey) {
        for id in Array(entries.keys) { release(id, by: manager) }
    }

    /// Removes and returns the managers that wait for buffer space on a link, in the order of their writes.
    mutating func takeWaitingToWrite(on id: Peer.ID) -> [ManagerKey] {
        defer { entries[id]?.waitingToWrite = [] }
        return entries[id]?.waitingToWrite ?? []
    }
}
