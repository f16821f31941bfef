import Glibc
import MynahCore
import MynahSupport

/// A socket that others connect to.
struct Listener: Sendable {
    let descriptor: Int32
    /// The path to remove with it, until that is done; `nil` for a TCP socket.
    private let path: Lock<String?>?

    /// The port, of a TCP socket.
    var port: UInt16? { SocketAddress.port(of: descriptor) }

    /// Listens on a TCP port.
    init(host: String, port: UInt16) async throws(RadioError) {
        var last = SystemError(EADDRNOTAVAIL)
        for address in try await SocketAddress.resolve(host, port) {
            switch Descriptor.socket(address.family, Descriptor.stream) {
            case .failure(let error): last = error
            case .success(let made):
                var on: Int32 = 1
                setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
                if address.with({ bind(made, $0, $1) }) == 0, systemListen(made) == 0 {
                    descriptor = made
                    path = nil
                    return
                }
                last = SystemError(errno)
                systemClose(made)
            }
        }
        switch last.number {
        case EADDRINUSE:
            throw RadioError(
                .unreachable, "the port \(port) is in use",
                remedy: "choose another, or end the process that has it: ss -ltnp")
        case EACCES:
            throw RadioError(
                .notPermitted, "only root may listen on the port \(port)", remedy: "choose one above 1023")
        default:
            throw RadioError(.unreachable, "cannot listen on \(host):\(port): \(last)")
        }
    }

    /// Listens on a path; what a process that is gone left there is replaced.
    init(path: String) throws(RadioError) {
        let made: Int32
        switch Descriptor.socket(AF_UNIX, Descriptor.stream) {
        case .success(let found): made = found
        case .failure(let error): throw RadioError(.unreachable, "a socket cannot be made: \(error)")
        }
        if Self.isDead(path) { unlink(path) }
        let bound = Descriptor.withUnixAddress(path) { bind(made, $0, $1) }
        guard bound == 0, systemListen(made) == 0 else {
            let error = SystemError(errno)
            systemClose(made)
            switch (bound, error.number) {
            case (nil, _): throw RadioError(.unreachable, "the path \(path) is too long for a socket")
            case (_, EADDRINUSE):
                throw RadioError(
                    .unreachable, "\(path) is in use", remedy: "choose another path, or remove it")
            default: throw RadioError(.unreachable, "cannot listen on \(path): \(error)")
            }
        }
        descriptor = made
        self.path = Lock(path)
    }

    /// Whether it is a socket that nobody listens on.
    private static func isDead(_ path: String) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK,
            case .success(let probe) = Descriptor.socket(AF_UNIX, Descriptor.stream)
        else { return false }
        defer { systemClose(probe) }
        return Descriptor.withUnixAddress(path) { systemConnect(probe, $0, $1) } == -1
            && errno == ECONNREFUSED
    }

    /// The descriptor of a new connection, or `nil` if there is none.
    func accept() -> Int32? {
        let accepted = systemAccept(descriptor)
        guard accepted >= 0 else { return nil }
        Descriptor.prepare(accepted)
        if path == nil { SocketAddress.hurry(accepted) }
        return accepted
    }

    /// Listens no more.
    func close() {
        systemClose(descriptor)
        removePath()
    }

    /// Removes its path, once: nobody connects to it from now on.
    func removePath() {
        path?.withLock { path in
            if let path { unlink(path) }
            path = nil
        }
    }
}
