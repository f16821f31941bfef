/// The other processes of a shared air, with their connections and stations: a state machine without I/O.
///
/// Two processes that start at the same time connect to each other twice. Both keep the connection that the
/// process with the lower number began.
struct AirNeighbours: Sendable {
    /// The identifier of a connection of this process.
    struct Connection: Hashable, Sendable, Comparable {
        var number: UInt64

        static func < (left: Connection, right: Connection) -> Bool { left.number < right.number }
    }

    /// An action that a message requires of the caller.
    enum Action: Hashable {
        /// Close the connection; the reason is `nil` if the other process did nothing wrong.
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
        /// The process to which this process has connected, or `nil` if the other process has connected.
        var called: UInt64?
        /// The process that has sent its greeting, or `nil` if it has not sent one yet.
        var node: UInt64?
        var wantsAdvertising = false
        var stations: Set<Station> = []
    }

    let node: UInt64
    private var connections: [Connection: Neighbour] = [:]
    private var nodes: [UInt64: Connection] = [:]
    private var stations: [Station: Connection] = [:]
    private var last: UInt64 = 0

    /// The connections to the processes that want to receive advertising, in order.
    private(set) var audience: [Connection] = []

    /// The most connections of this process.
    static let limit = 512
    /// The most stations of another process.
    static let stationLimit = 20_000

    init(node: UInt64) {
        self.node = node
    }

    /// The number of processes that have sent their greeting.
    var count: Int { nodes.count }

    /// Whether there is a connection to a process, or an attempt to connect to it.
    func knows(_ node: UInt64) -> Bool {
        nodes[node] != nil || connections.values.contains { $0.called == node }
    }

    /// Returns the connection to the process of a station.
    ///
    /// Returns `nil` if the station has not sent anything, or if its process has left.
    func connection(of station: Station) -> Connection? { stations[station] }

    /// Adds a connection to the process `called`, or one that another process began if `called` is `nil`.
    ///
    /// Returns `nil` if there are too many connections.
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

    /// Handles a message of another process; returns the required actions.
    mutating func received(_ bytes: [UInt8], on connection: Connection) -> [Action] {
        // Changed in place, because a copy would cause its stations to be copied when one is added.
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
        // A station belongs to the process that was the first to send a frame of it.
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
        // The stations still exist, and may not send again soon.
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
