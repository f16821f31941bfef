import MynahCore
import MynahSupport

/// The connections of a controller, by handle, and their common settings (Core Specification, Vol 6, Part B,
/// 4.5).
struct Connections: Sendable {
    private(set) var settings: ConnectionSettings
    private var connections = SortedMap<ConnectionHandle, Connection>()

    init(_ configuration: ControllerConfiguration) {
        settings = ConnectionSettings(configuration)
    }

    var count: Int { connections.count }
    /// Whether the controller can hold another connection.
    var hasRoom: Bool { connections.count < settings.limit }
    /// The time of the next check of a connection, or `nil` if there is no connection.
    var due: AirTime? {
        var earliest: AirTime?
        for index in connections.indices {
            earliest = AirTime.earlier(earliest, connections[at: index].supervision.wake)
        }
        return earliest
    }

    /// Whether the controller has a connection with a device, in either role.
    func isConnected(to peer: DeviceAddress) -> Bool {
        connections.indices.contains { connections[at: $0].endpoints.peer.has(peer) }
    }

    /// Whether an address of the controller has a connection with a device, in either role.
    ///
    /// There is at most one: a device ignores requests for a second one (Vol 6, Part B, 4.5).
    func hasConnection(_ local: DeviceAddress, with peer: Identity) -> Bool {
        connections.indices.contains {
            let endpoints = connections[at: $0].endpoints
            return endpoints.local == local
                && (endpoints.peer.has(peer.address) || peer.onAir.map(endpoints.peer.has) == true)
        }
    }

    /// The station of a connected device, or `nil` if the controller has no connection with it.
    func station(of peer: DeviceAddress) -> Station? {
        connections.indices.lazy.map { connections[at: $0].endpoints }.first { $0.peer.has(peer) }?.station
    }

    /// Whether the controller can accept a connection request from a station, whose device is `peer`.
    func canAccept(_ connect: AirConnect, from station: Station, _ peer: Identity) -> Bool {
        connect.parameters.isPossible && hasRoom && index(of: connect.access, with: station) == nil
            && !hasConnection(connect.advertiser, with: peer)
    }

    private func index(of access: UInt32, with station: Station) -> Int? {
        connections.indices.first {
            connections[at: $0].endpoints.access == access && connections[at: $0].endpoints.station == station
        }
    }

    // MARK: Opening

    /// Returns a random access address that no connection with a station uses.
    func newAccess(with station: Station, _ random: inout SeededRandom) -> UInt32 {
        var access = UInt32.random(in: 1...UInt32.max, using: &random)
        while index(of: access, with: station) != nil { access = access == .max ? 1 : access + 1 }
        return access
    }

    /// Adds a connection under a new handle, and returns its endpoints, or `nil` if no handle is free.
    ///
    /// The caller reports the connection to the host, and then calls `start`.
    mutating func open(
        as role: LEConnection.Role, with station: Station, access: UInt32, peer: Identity,
        local: DeviceAddress,
        _ parameters: LEConnection.Parameters, rssi: Int8, at now: AirTime
    ) -> ConnectionEndpoints? {
        guard let handle = freeHandle() else { return nil }
        let endpoints = ConnectionEndpoints(
            handle: handle, role: role, station: station, access: access, peer: peer, local: local)
        connections[handle] = Connection(endpoints, parameters, settings, rssi: rssi, at: now)
        return endpoints
    }

    /// The lowest free handle, or `nil` if there is none.
    private func freeHandle() -> ConnectionHandle? {
        (0x0040...ConnectionHandle.last.rawValue).lazy.map { ConnectionHandle(rawValue: $0) }
            .first { connections.index(of: $0) == nil }
    }

    /// Sends the first packets of a new connection.
    mutating func start(_ handle: ConnectionHandle, at now: AirTime, _ outbox: inout ControllerOutbox) {
        guard let index = connections.index(of: handle) else { return }
        connections[at: index].start(at: now, &outbox)
        removeIfOver(index)
    }

    // MARK: Data, frames and time

    /// Sends a packet of the host, if there is room for it.
    mutating func send(_ packet: ACLPacket, at now: AirTime, _ outbox: inout ControllerOutbox) {
        guard let index = connections.index(of: packet.handle), connections[at: index].stage == .open
        else { return }
        let pending = connections.indices.reduce(0) { $0 + connections[at: $1].packetsPending }
        guard pending < settings.packetCount, packet.data.count <= settings.packetLength else {
            // Data Buffer Overflow, of ACL data (Vol 4, Part E, 7.7.26).
            return outbox.report(HCIEvent.dataBufferOverflow, [0x01])
        }
        guard packet.boundary != .complete else { return }
        connections[at: index].send(packet, at: now, &outbox)
        removeIfOver(index)
    }

    /// Handles a frame of another station, if it belongs to a connection.
    mutating func receive(
        _ frame: LinkFrame, from station: Station, rssi: Int8, at now: AirTime,
        _ outbox: inout ControllerOutbox
    ) {
        guard let index = index(of: frame.access, with: station) else { return }
        connections[at: index].receive(frame, rssi: rssi, settings, at: now, &outbox)
        removeIfOver(index)
    }

    /// Sends everything that is due, and ends connections that have been silent for too long.
    mutating func advance(to now: AirTime, _ outbox: inout ControllerOutbox) {
        var index = 0
        while index < connections.count {
            connections[at: index].advance(to: now, &outbox)
            if !removeIfOver(index) { index += 1 }
        }
    }

    @discardableResult private mutating func removeIfOver(_ index: Int) -> Bool {
        guard connections[at: index].stage == .over else { return false }
        connections.removeValue(forKey: connections.keys[index])
        return true
    }

    // MARK: Commands

    /// The connection with a handle, or `nil` if there is none.
    func connection(_ handle: ConnectionHandle) -> Connection? { connections[handle] }

    /// Calls `body` to change a connection at the host's request, and carries out the resulting actions.
    ///
    /// Returns `nil` if no connection has the handle.
    mutating func change<Result>(
        _ handle: ConnectionHandle, at now: AirTime, _ outbox: inout ControllerOutbox,
        _ body: (inout Connection, inout [ConnectionAction]) -> Result
    ) -> Result? {
        guard let index = connections.index(of: handle) else { return nil }
        var actions: [ConnectionAction] = []
        let result = body(&connections[at: index], &actions)
        connections[at: index].perform(actions, at: now, &outbox)
        removeIfOver(index)
        return result
    }

    /// Performs LE Read Suggested Default Data Length (Vol 4, Part E, 7.8.34).
    func readSuggestedDataLength() -> CommandAnswer {
        .values {
            $0.write(settings.suggestedLength.octets)
            $0.write(settings.suggestedLength.time)
        }
    }

    /// Performs LE Write Suggested Default Data Length (7.8.35).
    mutating func writeSuggestedDataLength(_ reader: inout ByteReader) -> CommandAnswer? {
        guard let octets = reader.readUInt16(), let time = reader.readUInt16(),
            DataLengthProcedure.isValid(octets: octets, time: time)
        else { return nil }
        settings.suggestedLength = (octets, time)
        return .success
    }

    /// Performs LE Set Default PHY (7.8.48).
    mutating func setDefaultPHYs(_ reader: inout ByteReader) -> CommandAnswer? {
        guard let all = reader.readUInt8(), let sending = reader.readUInt8(),
            let receiving = reader.readUInt8(),
            let phys = LinkPHYs(all: all, sending: sending, receiving: receiving)
        else { return nil }
        settings.defaultPHYs = phys
        return .success
    }
}
