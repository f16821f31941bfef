#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
import MynahCore
import MynahSupport

/// Carries frames between the processes of an air: each has a socket, and a connection to each other.
///
/// What a neighbour has no room for is lost on the way to it, as on a real air, and links send again; so one that does not read
/// holds nobody up and costs nothing.
final class AirMesh: Sendable {
    typealias Connection = AirNeighbours.Connection

    private struct Line {
        var descriptor: Int32
        var watch: EventLoop.Watch
        /// It has no room, and that was said.
        var isDeaf = false
    }

    private struct State {
        var neighbours: AirNeighbours
        var lines: [Connection: Line] = [:]
        var listener: Line?
        var isOpen = true
        /// More would tell nobody anything.
        var noticesLeft = 20
    }

    private let directory: AirDirectory
    private let node: UInt64
    private let state: Lock<State>
    private let receive: @Sendable ([AirFrame]) -> Void
    private let notice: @Sendable (RadioWarning) -> Void

    /// The longest message: a frame with the most AD structures.
    static let longestMessage = 2048
    /// How many messages are read before others have their turn.
    private static let turn = 64

    /// A mesh that nobody is part of yet; `receive` and `notice` are called on the loop's thread.
    init(
        _ directory: AirDirectory, receive: @escaping @Sendable ([AirFrame]) -> Void,
        notice: @escaping @Sendable (RadioWarning) -> Void
    ) {
        self.directory = directory
        self.receive = receive
        self.notice = notice
        node = .random(in: 1 ... .max)
        state = Lock(State(neighbours: AirNeighbours(node: node)))
    }

    /// How many other processes are on it.
    var count: Int { state.withLock { $0.neighbours.count } }

    /// Opens a socket, and connects to all that are there; who comes later connects to us.
    func join() throws(RadioError) {
        try directory.prepare()
        let listener = try directory.listen(as: node)
        state.withLock { state in
            state.listener = Line(
                descriptor: listener,
                watch: EventLoop.shared.watch(listener, .reading) { [weak self] _ in self?.accept() })
        }
        for other in try directory.nodes() where other != node {
            if let descriptor = directory.connect(to: other) { begin(descriptor, isOurs: true) }
        }
    }

    /// Leaves it; nothing is received any more.
    func leave() {
        let lines = state.withLock { state in
            state.isOpen = false
            defer {
                state.lines = [:]
                state.listener = nil
                state.neighbours = AirNeighbours(node: node)
            }
            // Closed in here, where nobody else can be using them.
            let lines = Array(state.lines.values) + (state.listener.map { [$0] } ?? [])
            for line in lines { close(line.descriptor) }
            return lines
        }
        for line in lines { EventLoop.shared.remove(line.watch) }
        directory.remove(node)
    }

    // MARK: - Connections

    private func accept() {
        while true {
            let descriptor = state.withLock { state in
                guard let listener = state.listener else { return Int32(-1) }
                return systemAccept(listener.descriptor)
            }
            guard descriptor >= 0 else { return }
            Descriptor.prepare(descriptor)
            begin(descriptor, isOurs: false)
        }
    }

    private func begin(_ descriptor: Int32, isOurs: Bool) {
        var room: Int32 = 1 << 20
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &room, socklen_t(MemoryLayout<Int32>.size))
        guard Descriptor.send(descriptor, AirGreeting(node: node).bytes) != .ended else {
            close(descriptor)
            return
        }
        let isTaken = state.withLock { state in
            guard state.isOpen, let connection = state.neighbours.connected(isOurs: isOurs) else {
                return false
            }
            let watch = EventLoop.shared.watch(descriptor, .reading) { [weak self] _ in
                self?.read(connection)
            }
            state.lines[connection] = Line(descriptor: descriptor, watch: watch)
            return true
        }
        if !isTaken { close(descriptor) }
    }

    private func read(_ connection: Connection) {
        var buffer = [UInt8](repeating: 0, count: Self.longestMessage)
        var frames: [AirFrame] = []
        let notices = state.withLock { state in
            var notices: [RadioWarning] = []
            for _ in 0..<Self.turn {
                guard let line = state.lines[connection] else { break }
                // With this flag, the length that the message had.
                let outcome = Descriptor.receive(
                    line.descriptor, into: &buffer, flags: Int32(MSG_TRUNC))
                guard case .moved(let count) = outcome else {
                    if outcome != .blocked {
                        state.neighbours.ended(connection)
                        Self.drop(connection, &state)
                    }
                    break
                }
                // One that is too long is kept short, and makes no sense.
                let message = count > buffer.count ? [] : Array(buffer[..<count])
                for action in state.neighbours.received(message, on: connection) {
                    switch action {
                    case .take(let frame): frames.append(frame)
                    case .close(let connection, let reason):
                        Self.drop(connection, &state)
                        if let reason, state.noticesLeft > 0 {
                            state.noticesLeft -= 1
                            notices.append(Self.warning(reason))
                        }
                    }
                }
            }
            return notices
        }
        if !frames.isEmpty { receive(frames) }
        for each in notices { notice(each) }
    }

    private static func drop(_ connection: Connection, _ state: inout State) {
        guard let line = state.lines.removeValue(forKey: connection) else { return }
        close(line.descriptor)
        EventLoop.shared.remove(line.watch)
    }

    // MARK: - Sending

    /// Sends a frame to whoever it is for.
    func send(_ frame: AirFrame) {
        let bytes = frame.bytes
        let notices = state.withLock { state in
            var notices: [RadioWarning] = []
            if let station = frame.to {
                if let connection = state.neighbours.connection(of: station) {
                    Self.send(bytes, to: connection, &state, &notices)
                }
            } else {
                for connection in state.neighbours.everyone {
                    Self.send(bytes, to: connection, &state, &notices)
                }
            }
            return notices
        }
        for each in notices { notice(each) }
    }

    private static func send(
        _ bytes: [UInt8], to connection: Connection, _ state: inout State, _ notices: inout [RadioWarning]
    ) {
        guard let line = state.lines[connection] else { return }
        // Whatever is wrong with a connection is found by reading.
        guard Descriptor.send(line.descriptor, bytes) == .blocked else { return }
        guard !line.isDeaf, state.noticesLeft > 0 else { return }
        state.lines[connection]?.isDeaf = true
        state.noticesLeft -= 1
        notices.append(
            RadioWarning(
                "airNeighbourDeaf",
                "a process on the air does not read what it hears; it misses the rest until it does"))
    }

    private static func warning(_ reason: AirNeighbours.Reason) -> RadioWarning {
        switch reason {
        case .nonsense:
            RadioWarning("airNonsense", "a process on the air sent what makes no sense, and was refused")
        case .tooMany:
            RadioWarning(
                "airNonsense", "a process on the air has more devices than it can have, and was refused")
        case .foreignVersion(let version):
            RadioWarning(
                "airVersion",
                "a process on the air speaks version \(version) of it, not \(AirGreeting.version), and was refused: it is another version of Mynah"
            )
        }
    }
}
