import MynahCore

/// The centrals, by the path of their Device1.
struct PeerTable {
    struct Entry {
        var id: Peer.ID
        var isConnected = false
        /// Told to the sink; known from requests only.
        var mtu: Int?
        /// Paired or trusted: what wants consent is open to it.
        var isAuthorized = false
    }

    private var entries: [String: Entry] = [:]
    private var lastID: UInt32 = 0

    /// The entry of a device, made when it is new.
    mutating func entry(_ path: String) -> Entry {
        if let entry = entries[path] { return entry }
        lastID += 1
        let entry = Entry(id: Peer.ID(lastID))
        entries[path] = entry
        return entry
    }

    subscript(path: String) -> Entry? {
        get { entries[path] }
        set { entries[path] = newValue }
    }

    func path(of id: Peer.ID) -> String? {
        entries.first { $0.value.id == id }?.key
    }

    var connected: [Entry] { entries.values.filter(\.isConnected) }

    /// All are gone; those that were connected.
    mutating func removeAll() -> [Peer.ID] {
        defer { entries = [:] }
        return connected.map(\.id)
    }
}
