/// The other processes of a shared air: the connection to each, its stations, and whether it wants
/// advertising.
///
/// A state machine without I/O. Two processes that start at once connect to each other twice; both keep the
/// connection that the process with the lower number began.
struct AirNeighbours: Sendable {
    /// Identifies a connection of this process.
    struct Connection: Hashable, Sendable, Comparable {
        var number: UInt64

        static func < (left: Connection, right: Connection) -> Bool { left.number < right.number }
    }

    /// The action that a message requires.
    enum Action: Hashable {
        /// Close the connection; the reason is `nil` if the other side did nothing wrong.
        case close(Connection, Reason?)
        /// Pass a frame to the stations of this process.
        case take(AirFrame)
    }

    enum Reason: Hashable {
        case nonsense
        case foreignVersion(UInt16)
        case tooMany
    }

    private struct Neighbour {
        /// The process that this one connected to, or `nil` if the other side connected.
        var called: UInt64?
        /// The process that has sent its greeting, or `nil` if none has.
        var node: UInt64?
        var wantsAdvertising = false
        var stations: Set<Station> = []
    }

    let node: UInt64
    private var connections: [Connection: Neighbour] = [:]
    private var nodes: [UInt64: Connection] = [:]
    private var stations: [Station: Connection] = [:]
    private var last: UInt64 = 0

    /// The connections to processes that want advertising, in order.
    private(set) var audience: [Connection] = []

    /// The largest number of connections, which is more than anybody needs.
    static let limit = 512
    /// The largest number of stations of a process, which is more than anybody needs.
    static let stationLimit = 20_000

    init(node: UInt64) {
        self.node = node
    }

    /// The number of processes that have sent their greeting.
    var count: Int { nodes.count }

    /// Whether a process is a neighbour, or is being connected to.
    func knows(_ node: UInt64) -> Bool {
        nodes[node] != nil || connections.values.contains { $0.called == node }
    }

    /// The connection to the process of a station, or `nil` if the station has not sent anything or has left.
    func connection(of station: Station) -> Connection? { stations[station] }

    /// Adds a connection, to the process `called` or made by the other side; returns `nil` if there are too
    /// many.
    mutating func connected(to called: UInt64? = nil) -> Connection? {
        guard connections.count < Self.limit else { return nil }
        last += 1
        connections[Connection(number: last)] = Neighbour(called: called)
        return Connection(number: last)
    }

    /// Removes a connection that has ended.
    mutating func ended(_ connection: Connection) {
        guard let neighbour = connections.removeValue(forKey: connection) else { return }
        for station in neighbour.stations { stations[station] = nil }
        if let node = neighbour.node, nodes[node] == connection { nodes[node] = nil }
        audience.removeAll { $0 == connection }
    }

    /// Handles a message.
    mutating func received(_ bytes: [UInt8], on connection: Connection) -> [Action] {
        // In place: a copy of the neighbour would have its stations copied when one is added.
        guard let index = connections.index(forKey: connection) else { return [] }
        guard connections.values[index].node != nil else {
            do throws(AirGreeting.Trouble) {
                return greeted(try AirGreeting(bytes), on: connection)
            } catch {
                switch error {
                case .nonsense: return refuse(connection, .nonsense)
                case .foreignVersion(let version): return refuse(connection, .foreignVersion(version))
                }
            }
        }
        switch AirMessage(bytes) {
        case .frame(let frame): return handle(frame, on: connection)
        case .wantsAdvertising(let isWanted):
            send(advertising: isWanted, to: connection)
            return []
        case nil: return refuse(connection, .nonsense)
        }
    }

    private mutating func handle(_ frame: AirFrame, on connection: Connection) -> [Action] {
        // A station belongs to the process that sent for it first.
        if let owner = stations[frame.from] {
            return owner == connection ? [.take(frame)] : []
        }
        guard let count = connections[connection]?.stations.count, count < Self.stationLimit else {
            return refuse(connection, .tooMany)
        }
        stations[frame.from] = connection
        connections[connection]?.stations.insert(frame.from)
        return [.take(frame)]
    }

    private mutating func send(advertising isWanted: Bool, to connection: Connection) {
        guard connections[connection]?.wantsAdvertising != isWanted else { return }
        connections[connection]?.wantsAdvertising = isWanted
        if isWanted {
            audience.append(connection)
            audience.sort()
        } else {
            audience.removeAll { $0 == connection }
        }
    }

    private mutating func greeted(_ greeting: AirGreeting, on connection: Connection) -> [Action] {
        guard greeting.node != node else { return refuse(connection, .nonsense) }
        connections[connection]?.node = greeting.node
        guard let other = nodes[greeting.node] else {
            nodes[greeting.node] = connection
            send(advertising: greeting.wantsAdvertising, to: connection)
            return []
        }
        let isOurs = connections[connection]?.called != nil
        guard isOurs == (node < greeting.node) else { return refuse(connection, nil) }
        nodes[greeting.node] = connection
        send(advertising: greeting.wantsAdvertising, to: connection)
        // Its stations are still there, and may have no other reason to send again.
        let stations = connections[other]?.stations ?? []
        defer {
            for station in stations { self.stations[station] = connection }
            connections[connection]?.stations = stations
        }
        return refuse(other, nil)
    }

    private mutating func refuse(_ connection: Connection, _ reason: Reason?) -> [Action] {
        ended(connection)
        return [.close(connection, reason)]
    }
}
