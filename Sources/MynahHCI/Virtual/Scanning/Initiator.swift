import MynahCore
import MynahSupport

/// The initiating state of a Link Layer: the host's request for a connection (Core Specification, Vol 6, Part
/// B, 4.4.4).
struct Initiator: Sendable {
    private struct Request: Sendable {
        /// The device to connect to, or `nil` for any device on the filter accept list.
        var peer: DeviceAddress?
        var ownType: UInt8
        var parameters: LEConnection.Parameters
    }

    /// The data for a connection request to the advertiser of a matching advertisement.
    struct Match: Hashable, Sendable {
        /// The controller's own address on the connection, which is also InitA in the connection request.
        var own: DeviceAddress
        var parameters: LEConnection.Parameters
    }

    private var request: Request?

    /// Whether the host has requested a connection.
    var isOn: Bool { request != nil }
    /// `true` if the initiator waits for any device on the filter accept list.
    var usesAcceptList: Bool { request.map { $0.peer == nil } ?? false }

    // MARK: Commands (Vol 4, Part E, 7.8.12, 7.8.13 and 7.8.66)

    /// Performs LE Create Connection.
    mutating func create(
        _ reader: inout ByteReader, _ connections: Connections, _ addresses: ControllerAddresses
    ) -> CommandAnswer? {
        guard let interval = reader.readUInt16(), let window = reader.readUInt16(),
            (4...0x4000).contains(interval), (4...interval).contains(window),
            let policy = reader.readUInt8(), policy <= 1, let peerKind = reader.readUInt8(), peerKind <= 3,
            let peer = reader.readAddress(kind: peerKind), let own = reader.readUInt8(), own <= 3,
            let parameters = LEConnection.Parameters(range: &reader)
        else { return nil }
        let wanted = Request(peer: policy == 0 ? peer : nil, ownType: own, parameters: parameters)
        return .status(begin(wanted, connections, addresses))
    }

    /// Performs LE Extended Create Connection.
    ///
    /// Only the parameters of the first PHY are used, because the virtual air has one channel for all PHYs.
    mutating func createExtended(
        _ reader: inout ByteReader, _ connections: Connections, _ addresses: ControllerAddresses
    ) -> CommandAnswer? {
        guard let policy = reader.readUInt8(), policy <= 1, let own = reader.readUInt8(), own <= 3,
            let peerKind = reader.readUInt8(), peerKind <= 3, let peer = reader.readAddress(kind: peerKind),
            let phys = reader.readUInt8(), (1...7).contains(phys),
            reader.remaining == 16 * phys.nonzeroBitCount
        else { return nil }
        var found: LEConnection.Parameters?
        for _ in 0..<phys.nonzeroBitCount {
            guard let interval = reader.readUInt16(), let window = reader.readUInt16(), interval >= 4,
                (4...interval).contains(window), let parameters = LEConnection.Parameters(range: &reader)
            else { return nil }
            found = found ?? parameters
        }
        guard let found else { return nil }
        let wanted = Request(peer: policy == 0 ? peer : nil, ownType: own, parameters: found)
        return .status(begin(wanted, connections, addresses))
    }

    private mutating func begin(
        _ wanted: Request, _ connections: Connections, _ addresses: ControllerAddresses
    ) -> HCIStatus {
        guard request == nil else { return .commandDisallowed }
        if let peer = wanted.peer, connections.isConnected(to: peer) { return .connectionAlreadyExists }
        guard connections.hasRoom else { return .connectionLimitExceeded }
        guard wanted.ownType != 1 || addresses.randomAddress != nil else { return .invalidCommandParameters }
        request = wanted
        return .success
    }

    /// Performs LE Create Connection Cancel, after which LE Connection Complete follows.
    mutating func cancel(_ addresses: ControllerAddresses, _ outbox: inout ControllerOutbox) -> CommandAnswer
    {
        guard let wanted = request else { return .disallowed }
        request = nil
        let peer = wanted.peer ?? DeviceAddress(value: 0, kind: .public) ?? addresses.publicAddress
        ConnectionComplete(.unknownConnectionIdentifier, role: .central, peer: peer).report(to: &outbox)
        return .success
    }

    // MARK: Hearing

    /// Returns the data for a connection request if the advertisement matches the host's request.
    ///
    /// The host's request then ends. The result is `nil` if the advertisement does not match, or if its
    /// advertiser is already connected.
    mutating func match(
        _ advertisement: AirAdvertisement, _ identity: Identity, _ acceptList: FilterAcceptList,
        _ connections: Connections, _ addresses: inout ControllerAddresses, at now: AirTime,
        _ random: inout SeededRandom
    ) -> Match? {
        guard let wanted = request, advertisement.properties.contains(.connectable) else { return nil }
        if let peer = wanted.peer {
            guard identity.address == peer || advertisement.address == peer else { return nil }
        } else {
            guard acceptList.contains(identity) else { return nil }
        }
        let found = addresses.own(
            wanted.ownType, peer: identity.address, randomAddress: addresses.randomAddress, at: now, &random)
        guard let own = found, !connections.hasConnection(own, with: identity) else { return nil }
        // InitA is never TargetA, which the advertiser may have generated (Vol 6, Part B, 6.4).
        if let target = advertisement.target {
            guard addresses.resolving.isLocal(target, own: own) else { return nil }
        }
        request = nil
        return Match(own: own, parameters: wanted.parameters)
    }
}

extension LEConnection.Parameters {
    /// Reads a range of connection parameters, and chooses the shortest interval.
    ///
    /// The result is `nil` if they are invalid (Core Specification, Vol 4, Part E, 7.8.12).
    init?(range reader: inout ByteReader) {
        guard let minimum = reader.readUInt16(), let maximum = reader.readUInt16(),
            let latency = reader.readUInt16(), let timeout = reader.readUInt16(),
            let shortestEvent = reader.readUInt16(), let longestEvent = reader.readUInt16(),
            minimum <= maximum, shortestEvent <= longestEvent
        else { return nil }
        let widest = LEConnection.Parameters(interval: maximum, latency: latency, timeout: timeout)
        self.init(interval: minimum, latency: latency, timeout: timeout)
        guard widest.isPossible, isPossible else { return nil }
    }
}
