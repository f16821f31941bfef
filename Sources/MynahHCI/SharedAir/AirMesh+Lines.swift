import Glibc
import MynahCore
import MynahSupport

// The connections to other processes.
extension AirMesh {
    /// The length of the longest message, in bytes: a frame with the longest AD structures.
    static let longestMessage = 2048
    /// The most messages that are read from one connection before other descriptors are served.
    private static let turn = 64

    /// Sends the greeting on a new connection.
    ///
    /// `called` is the process to which this process has connected, or `nil` if the other process has
    /// connected.
    func greet(_ descriptor: Int32, to called: UInt64?) {
        var room: Int32 = 1 << 20
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &room, socklen_t(MemoryLayout<Int32>.size))
        let isTaken = state.withLock { state in
            guard state.isOpen else { return false }
            // Read under the same lock that adds the connection, so that no change in between is lost.
            let greeting = AirGreeting(node: node, wantsAdvertising: state.wantsAdvertising)
            guard Descriptor.send(descriptor, greeting.bytes) != .ended,
                let connection = state.neighbours.connected(to: called)
            else { return false }
            let watch = EventLoop.shared.watch(descriptor, .reading) { [weak self] ready in
                if ready.contains(.writing) { self?.catchUp(connection) }
                if ready.contains(.reading) { self?.read(connection) }
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
                // With MSG_TRUNC, the result is the length of the message, even if the buffer is shorter.
                let outcome = Descriptor.receive(
                    line.descriptor, into: &buffer, flags: Int32(MSG_TRUNC))
                guard case .moved(let count) = outcome else {
                    if outcome != .blocked {
                        state.neighbours.ended(connection)
                        Self.drop(connection, &state)
                    }
                    break
                }
                // A message that is too long was cut, and is not valid.
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

    /// Sends a message to the other processes that need it.
    ///
    /// A frame for one station is sent to that station's process, and a frame for all stations to the
    /// processes that want to receive advertising.
    func send(_ message: AirMessage) {
        let notices = state.withLock { state in
            var notices: [RadioWarning] = []
            switch message {
            case .frame(let frame):
                let connections =
                    if let station = frame.to {
                        state.neighbours.connection(of: station).map { [$0] } ?? []
                    } else {
                        state.neighbours.audience
                    }
                guard !connections.isEmpty else { break }
                let bytes = message.bytes
                for connection in connections { Self.send(bytes, to: connection, &state, &notices) }
            case .wantsAdvertising(let isWanted):
                state.wantsAdvertising = isWanted
                for connection in state.lines.keys { Self.update(connection, &state) }
            }
            return notices
        }
        for each in notices { notice(each) }
    }

    private static func send(
        _ bytes: [UInt8], to connection: Connection, _ state: inout State, _ notices: inout [RadioWarning]
    ) {
        guard let line = state.lines[connection] else { return }
        // A broken connection is detected when it is read.
        guard Descriptor.send(line.descriptor, bytes) == .blocked else { return }
        guard !line.isDeaf, state.noticesLeft > 0 else { return }
        state.lines[connection]?.isDeaf = true
        state.noticesLeft -= 1
        notices.append(
            RadioWarning(
                "airNeighbourDeaf",
                "a process on the air does not read its packets; it loses packets until it does"))
    }

    /// Sends whether this process wants to receive advertising.
    ///
    /// Unlike a frame, the message is sent later if the connection cannot accept it now.
    private static func update(_ connection: Connection, _ state: inout State) {
        guard let line = state.lines[connection] else { return }
        let bytes = AirMessage.wantsAdvertising(state.wantsAdvertising).bytes
        let isOutdated = Descriptor.send(line.descriptor, bytes) == .blocked
        guard isOutdated != line.isOutdated else { return }
        state.lines[connection]?.isOutdated = isOutdated
        EventLoop.shared.change(line.watch, isOutdated ? [.reading, .writing] : .reading)
    }

    /// Sends a delayed message after a connection can accept data again.
    private func catchUp(_ connection: Connection) {
        state.withLock { Self.update(connection, &$0) }
    }

    private static func warning(_ reason: AirNeighbours.Reason) -> RadioWarning {
        switch reason {
        case .nonsense:
            RadioWarning(
                "airNonsense", "a process on this air was refused because it sent an invalid message")
        case .tooMany:
            RadioWarning(
                "airNonsense",
                """
                a process on this air was refused because it has more than \
                \(AirNeighbours.stationLimit) devices
                """
            )
        case .foreignVersion(let version):
            RadioWarning(
                "airVersion",
                """
                a process on this air was refused because it runs another version of Mynah (air \
                protocol \(version), and this one has \(AirGreeting.version))
                """
            )
        }
    }
}
