import Glibc
package import MynahCore
import MynahSupport

/// A transport that speaks H4 to a controller on a socket, a serial line or the kernel's user channel.
///
/// The transport can be opened again after it has ended or was closed. If it is a server, `open` waits for a
/// controller to connect.
package final class SocketTransport: HCITransport {
    private enum Phase {
        case closed
        case opening(DescriptorWait)
        case open(PacketLine)
    }

    private struct State {
        var phase = Phase.closed
        var port: UInt16?
        /// The listening socket while the transport waits for a controller, or `nil`.
        var listener: ListeningSocket?
        /// The number of calls of `open` so far, so that the end of an earlier opening is ignored.
        var run = 0
    }

    /// The address of the controller.
    package let address: HCITransportAddress
    private let whenListening: @Sendable (_ place: String) -> Void
    private let state = Lock(State())
    /// The time limit for a controller to accept a connection, in microseconds.
    private static let patience: Int64 = 10_000_000

    /// Makes a transport that is not open.
    ///
    /// If the transport is a server, it calls `whenListening` with its address as soon as a controller can
    /// connect.
    package init(
        _ address: HCITransportAddress,
        whenListening: @escaping @Sendable (_ place: String) -> Void = { _ in }
    ) {
        self.address = address
        self.whenListening = whenListening
    }

    deinit { close() }

    /// The port on which the transport listens, or `nil` if it does not listen.
    ///
    /// If the address has the port 0, this is the port that the system has chosen.
    package var port: UInt16? { state.withLock { $0.port } }

    /// Connects to the controller, or waits for the controller to connect.
    package func open(
        receive: @escaping @Sendable (H4Packet) -> Void, ended: @escaping @Sendable (RadioError?) -> Void
    ) async throws(RadioError) {
        let wait = DescriptorWait()
        let run = state.withLock { state -> Int? in
            guard case .closed = state.phase else { return nil }
            state.phase = .opening(wait)
            state.run += 1
            return state.run
        }
        guard let run else { throw RadioError(.invalidState, "the transport has been opened already") }
        let descriptor: Int32
        do throws(RadioError) {
            descriptor = try await reach(wait)
        } catch {
            state.withLock { if $0.run == run { $0.phase = .closed } }
            throw error
        }
        let receiver = PacketReceiver(receive: receive) { [weak self] error in
            self?.state.withLock { if $0.run == run { $0.phase = .closed } }
            ended(error)
        }
        var kind = PacketLine.Kind.socket
        if case .serial = address { kind = .terminal }
        let line = PacketLine(descriptor, kind, other: "the controller at \(address)", receiver)
        let isOpen = state.withLock { state in
            guard state.run == run, case .opening = state.phase else { return false }
            state.phase = .open(line)
            return true
        }
        guard isOpen else {
            line.close()
            throw Self.closed
        }
        line.start()
    }

    /// Sends a packet, or queues it until the connection accepts it.
    package func send(_ packet: H4Packet) {
        let line = state.withLock { state -> PacketLine? in
            if case .open(let line) = state.phase { line } else { nil }
        }
        line?.send(packet)
    }

    /// Closes the transport, or stops waiting for a controller.
    package func close() {
        let (phase, listener) = state.withLock { state in
            defer {
                state.phase = .closed
                state.run += 1
            }
            return (state.phase, state.listener)
        }
        // Removed now, because the process may end before the wait does.
        listener?.removePath()
        switch phase {
        case .closed: break
        case .opening(let wait): wait.cancel()
        case .open(let line): line.close()
        }
    }

    private static let closed = RadioError(.lost, "the transport was closed before a controller connected")

    // MARK: - Reaching

    private func reach(_ wait: DescriptorWait) async throws(RadioError) -> Int32 {
        switch address {
        case .tcpClient(let host, let port):
            return try await connect(host, port, wait)
        case .tcpServer(let host, let port):
            let listener = try await ListeningSocket.listening(host: host, port: port)
            let place = HCITransportAddress.endpoint(host, listener.port ?? port)
            return try await accept(listener, at: place, wait)
        case .unixServer(let path):
            return try await accept(try await ListeningSocket.listening(path: path), at: path, wait)
        case .unixClient(let path):
            return try connect(path)
        case .serial(let path, let baud):
            return try SerialLine.open(path, baud: baud)
        case .userChannel(let number):
            return try UserChannel.open(number)
        }
    }

    private func connect(_ host: String, _ port: UInt16, _ wait: DescriptorWait) async throws(RadioError)
        -> Int32
    {
        var last = SystemError(EHOSTUNREACH)
        for address in try await SocketAddress.resolve(host, port) {
            let descriptor: Int32
            switch Descriptor.socket(address.family, Descriptor.stream) {
            case .success(let made): descriptor = made
            case .failure(let error):
                last = error
                continue
            }
            if address.with({ systemConnect(descriptor, $0, $1) }) != 0 {
                last = SystemError(errno)
                if last.number == EINPROGRESS {
                    switch await wait.wait(for: descriptor, .writing, microseconds: Self.patience) {
                    case .ready: last = SystemError(Self.error(of: descriptor))
                    case .timedOut: last = SystemError(ETIMEDOUT)
                    case .cancelled:
                        systemClose(descriptor)
                        throw Self.closed
                    }
                }
                guard last.number == 0 else {
                    systemClose(descriptor)
                    // The wait is for one address only; on the loopback interface, the other one is refused
                    // at once.
                    continue
                }
            }
            SocketAddress.hurry(descriptor)
            return descriptor
        }
        throw RadioError(
            .unreachable, "cannot connect to a controller at \(host):\(port): \(last)",
            remedy: last.number == ECONNREFUSED ? "start the controller first" : nil)
    }

    private static func error(of descriptor: Int32) -> Int32 {
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno
    }

    private func connect(_ path: String) throws(RadioError) -> Int32 {
        let descriptor: Int32
        switch Descriptor.socket(AF_UNIX, Descriptor.stream) {
        case .success(let made): descriptor = made
        case .failure(let error): throw RadioError(.unreachable, "a socket cannot be made: \(error)")
        }
        let outcome = SocketAddress(path: path)?.with { systemConnect(descriptor, $0, $1) }
        guard outcome != 0 else { return descriptor }
        let error = SystemError(errno)
        systemClose(descriptor)
        throw Self.error(outcome == nil ? SystemError(ENAMETOOLONG) : error, of: path)
    }

    /// Returns the error of connecting to the socket at a path.
    static func error(_ error: SystemError, of path: String) -> RadioError {
        if error.number == ENAMETOOLONG { return RadioError.tooLong(path) }
        // The kernel reports other kinds of files like a socket to which no process listens.
        if error.number == ECONNREFUSED, UnixSocketPath(path).isOtherThanSocket {
            return RadioError(
                .unreachable, "\(path) is not a socket", remedy: "write the path of the controller's socket")
        }
        let remedy: String? =
            switch error.number {
            case ECONNREFUSED, ENOENT: "start the controller first"
            case EPROTOTYPE:
                "write the path of a stream socket (SOCK_STREAM), on which the controller speaks H4"
            case ENOTDIR, ELOOP: "write the path of the controller's socket"
            case EACCES: "run mynah as a user that may write to the socket"
            default: nil
            }
        return RadioError(
            error.number == EACCES ? .notPermitted : .unreachable,
            "cannot connect to a controller at \(path): \(error)", remedy: remedy)
    }

    private func accept(
        _ listener: ListeningSocket, at place: String, _ wait: DescriptorWait
    ) async throws(RadioError) -> Int32 {
        state.withLock { ($0.port, $0.listener) = (listener.port, listener) }
        // Closed after the first connection, so that the system refuses a second controller.
        defer {
            state.withLock { ($0.port, $0.listener) = (nil, nil) }
            listener.close()
        }
        whenListening(place)
        guard await wait.wait(for: listener.descriptor, .reading) == .ready else { throw Self.closed }
        guard let descriptor = listener.accept() else {
            throw RadioError(.lost, "the controller that connected to \(address) disconnected at once")
        }
        return descriptor
    }
}
