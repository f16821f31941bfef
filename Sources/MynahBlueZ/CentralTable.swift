import MynahCore

/// The connected centrals, by the path of their Device1, and the identifiers of authorized centrals.
///
/// This part has no I/O. It stores nothing about other devices that bluetoothd reports, such as devices that
/// a scan has found.
struct CentralTable {
    /// A connected central.
    struct Central: Hashable {
        let id: Peer.ID
        /// ATT_MTU of the link, in bytes, or `nil` before the central's first request.
        fileprivate(set) var mtu: Int?
        /// Whether the central may use attributes that need authorization, because it is paired or trusted.
        fileprivate(set) var isAuthorized = false

        /// The central of ReadValue and WriteValue calls that do not identify one.
        static let unknown = Central(id: Peer.ID(0))

        init(id: Peer.ID, mtu: Int? = nil, isAuthorized: Bool = false) {
            self.id = id
            self.mtu = mtu
            self.isAuthorized = isAuthorized
        }
    }

    /// A change that the radio has to report.
    enum Change: Hashable {
        case connected(Peer)
        case disconnected(Peer.ID, isBonded: Bool)
        case peerChanged(Peer)
        case paired(Peer.ID)
        case mtuChanged(Peer.ID, Int)

        /// The event to report.
        var event: RadioEvent {
            switch self {
            case .connected(let peer): .connected(peer)
            case .disconnected(let id, _): .disconnected(id)
            case .peerChanged(let peer): .peerChanged(peer)
            case .paired(let id): .paired(id)
            case .mtuChanged(let id, let mtu): .mtuChanged(id, mtu)
            }
        }
    }

    private var links: [String: Central] = [:]
    /// The identifiers of authorized centrals, by path, so that a central has the same one on its next link.
    private var authorized: [String: Peer.ID] = [:]
    /// The centrals that paired while they were connected to this radio; bluetoothd may have other bonds too.
    private var paired: Set<String> = []
    private var lastID: UInt32 = 0

    /// The connected centrals.
    var connected: Dictionary<String, Central>.Values { links.values }

    /// The number of devices in the table.
    var count: Int { Set(links.keys).union(authorized.keys).count }

    /// Returns the path of a connected central.
    func path(of id: Peer.ID) -> String? {
        links.first { $0.value.id == id }?.key
    }

    /// Returns the connected centrals for whose paths `isWanted` returns `true`.
    func ids(where isWanted: (String) -> Bool) -> [Peer.ID] {
        links.filter { isWanted($0.key) }.map(\.value.id)
    }

    /// The paths of the centrals that paired while they were connected to this radio.
    var ownBonds: [String] { paired.sorted() }

    // MARK: Events

    /// Updates a device with the properties that bluetoothd reports.
    ///
    /// `before` has the previous properties, or is `nil` if the device is new.
    mutating func update(
        _ path: String, from before: BusObjects.Device?, to now: BusObjects.Device
    ) -> [Change] {
        var changes: [Change] = []
        switch (links[path], now.isConnected) {
        case (nil, true):
            changes.append(connect(path, now))
        case (let central?, false):
            links[path] = nil
            changes.append(.disconnected(central.id, isBonded: now.isPaired))
        case (let central?, true):
            links[path]?.isAuthorized = now.isAuthorized
            if before?.name != now.name || before?.isPaired != now.isPaired || before?.address != now.address
            {
                changes.append(.peerChanged(Self.peer(central.id, now)))
            }
        case (nil, false):
            break
        }
        if now.isAuthorized {
            let id = links[path]?.id ?? authorized[path] ?? newID()
            authorized[path] = id
            if let before, !before.isPaired, now.isPaired {
                changes.append(.paired(id))
                if links[path] != nil { paired.insert(path) }
            }
        } else {
            authorized[path] = nil
        }
        if !now.isPaired { paired.remove(path) }
        return changes
    }

    /// Handles the removal of a device by bluetoothd.
    mutating func remove(_ path: String) -> [Change] {
        authorized[path] = nil
        paired.remove(path)
        guard let central = links.removeValue(forKey: path) else { return [] }
        return [.disconnected(central.id, isBonded: false)]
    }

    /// Handles a request of a central: `connected` may not have been reported yet, and ATT_MTU may have
    /// changed.
    ///
    /// `device` returns the properties that bluetoothd has reported, or `nil` if there are none.
    mutating func request(
        from path: String, mtu: Int?, device: @autoclosure () -> BusObjects.Device?
    ) -> (central: Central, changes: [Change]) {
        var changes: [Change] = []
        if links[path] == nil { changes.append(connect(path, device() ?? BusObjects.Device(path: path))) }
        if let mtu, let central = links[path], central.mtu != mtu {
            links[path]?.mtu = mtu
            changes.append(.mtuChanged(central.id, mtu))
        }
        return (links[path] ?? .unknown, changes)
    }

    /// Removes and returns all links, after bluetoothd has ended, or the adapter was removed or turned off.
    mutating func removeAll() -> [Peer.ID] {
        defer {
            links = [:]
            authorized = [:]
        }
        return links.values.map(\.id).sorted { $0.rawValue < $1.rawValue }
    }

    private mutating func connect(_ path: String, _ device: BusObjects.Device) -> Change {
        let id = authorized[path] ?? newID()
        links[path] = Central(id: id, isAuthorized: device.isAuthorized)
        return .connected(Self.peer(id, device))
    }

    private mutating func newID() -> Peer.ID {
        lastID += 1
        return Peer.ID(lastID)
    }

    private static func peer(_ id: Peer.ID, _ device: BusObjects.Device) -> Peer {
        Peer(
            id: id, address: DeviceAddress(device.address, kind: device.isRandom ? .random : .public),
            name: device.name, isPaired: device.isPaired)
    }
}
