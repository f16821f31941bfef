/// Who else is on a shared air, through which connection, and which of their stations have spoken.
///
/// A machine without I/O. Two that start at once connect to each other twice; both keep the connection that the lower number
/// began.
struct AirNeighbours: Sendable {
    /// Names a connection of this process.
    struct Connection: Hashable, Sendable, Comparable {
        var number: UInt64

        static func < (left: Connection, right: Connection) -> Bool { left.number < right.number }
    }

    /// What is to be done about a connection.
    enum Action: Hashable {
        /// It ends, and why, where someone should know.
        case close(Connection, Reason?)
        /// A frame for the air.
        case take(AirFrame)
    }

    enum Reason: Hashable {
        case nonsense
        case foreignVersion(UInt16)
        case tooMany
    }

    private struct Neighbour {
        var isOurs: Bool
        /// Who it is; nil: it has not greeted.
        var node: UInt64?
        var stations: Set<Station> = []
    }

    let node: UInt64
    private var connections: [Connection: Neighbour] = [:]
    private var nodes: [UInt64: Connection] = [:]
    private var stations: [Station: Connection] = [:]
    private var last: UInt64 = 0

    /// More connections than any desk has terminals.
    static let limit = 512
    /// More devices than anyone plays in a process.
    static let stationLimit = 20_000

    init(node: UInt64) {
        self.node = node
    }

    /// How many others have greeted.
    var count: Int { nodes.count }

    /// Whom to send what is for everyone.
    var everyone: [Connection] { nodes.values.sorted() }

    /// Through whom a station is reached; nil: it has not spoken, or is gone.
    func connection(of station: Station) -> Connection? { stations[station] }

    /// A connection came to be, by us or by the other side; nil: there are too many.
    mutating func connected(isOurs: Bool) -> Connection? {
        guard connections.count < Self.limit else { return nil }
        last += 1
        connections[Connection(number: last)] = Neighbour(isOurs: isOurs)
        return Connection(number: last)
    }

    /// A connection is over.
    mutating func ended(_ connection: Connection) {
        guard let neighbour = connections.removeValue(forKey: connection) else { return }
        for station in neighbour.stations { stations[station] = nil }
        if let node = neighbour.node, nodes[node] == connection { nodes[node] = nil }
    }

    /// A message came.
    mutating func received(_ bytes: [UInt8], on connection: Connection) -> [Action] {
        guard let neighbour = connections[connection] else { return [] }
        guard neighbour.node != nil else {
            do throws(AirGreeting.Trouble) {
                return greeted(try AirGreeting(bytes), on: connection, neighbour)
            } catch {
                ended(connection)
                switch error {
                case .nonsense: return [.close(connection, .nonsense)]
                case .foreignVersion(let version): return [.close(connection, .foreignVersion(version))]
                }
            }
        }
        guard let frame = AirFrame(bytes) else {
            ended(connection)
            return [.close(connection, .nonsense)]
        }
        // A station belongs to whoever spoke for it first.
        if let owner = stations[frame.from] {
            return owner == connection ? [.take(frame)] : []
        }
        guard neighbour.stations.count < Self.stationLimit else {
            ended(connection)
            return [.close(connection, .tooMany)]
        }
        stations[frame.from] = connection
        connections[connection]?.stations.insert(frame.from)
        return [.take(frame)]
    }

    private mutating func greeted(
        _ greeting: AirGreeting, on connection: Connection, _ neighbour: Neighbour
    ) -> [Action] {
        guard greeting.node != node else {
            ended(connection)
            return [.close(connection, .nonsense)]
        }
        connections[connection]?.node = greeting.node
        guard let other = nodes[greeting.node] else {
            nodes[greeting.node] = connection
            return []
        }
        let keepsNew = neighbour.isOurs == (node < greeting.node)
        let loser = keepsNew ? other : connection
        if keepsNew { nodes[greeting.node] = connection }
        ended(loser)
        return [.close(loser, nil)]
    }
}
