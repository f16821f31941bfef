import Glibc
import MynahCore
import MynahSupport

extension ListeningSocket {
    /// Listens on a TCP port.
    static func listening(host: String, port: UInt16) async throws(RadioError) -> ListeningSocket {
        let addresses = try await SocketAddress.resolve(host, port)
        return try first(of: addresses, host, port) { address throws(SystemError) in
            try ListeningSocket(address, isDualStack: true)
        }
    }

    /// Listens at a path, and replaces the socket file of a process that has ended.
    static func listening(path: String) async throws(RadioError) -> ListeningSocket {
        do throws(PathProblem) {
            return try await ListeningSocket(path: path, isPrivate: false)
        } catch {
            throw RadioError(error, at: path)
        }
    }

    /// Returns the error of listening on a TCP port, or `nil` if the port is free.
    static func error(host: String, port: UInt16) -> RadioError? {
        do throws(RadioError) {
            let addresses = try SocketAddress.lookUp(host, port).get()
            try first(of: addresses, host, port) { address throws(SystemError) in
                if let error = self.error(at: address, isDualStack: true) { throw error }
            }
            return nil
        } catch {
            return error
        }
    }

    /// The error that listening at a path would cause, or `nil` if no obstacle is known.
    ///
    /// No socket is created to find this out.
    static func error(path: String) -> RadioError? { problem(at: path).map { RadioError($0, at: path) } }

    /// Calls `body` with each address in turn until it succeeds, and returns its result.
    private static func first<Result>(
        of addresses: [SocketAddress], _ host: String, _ port: UInt16,
        _ body: (SocketAddress) throws(SystemError) -> Result
    ) throws(RadioError) -> Result {
        var last = SystemError(EADDRNOTAVAIL)
        for address in addresses {
            do throws(SystemError) {
                return try body(address)
            } catch {
                last = error
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
        default: throw RadioError(.unreachable, "cannot listen on \(host):\(port): \(last)")
        }
    }
}

extension RadioError {
    /// Makes the error for a path that is too long for a socket address.
    static func tooLong(_ path: String) -> RadioError {
        RadioError(
            .unreachable, "the path \(path) is too long for a socket",
            remedy: "choose one with at most 107 bytes")
    }

    /// Makes the error for a failure to listen at a path.
    fileprivate init(_ problem: ListeningSocket.PathProblem, at path: String) {
        switch problem {
        case .pathTooLong: self = .tooLong(path)
        case .isDirectory:
            self.init(
                .unreachable, "cannot listen on \(path), which is a directory",
                remedy: "name a socket in it, as in \(path)\(path.hasSuffix("/") ? "" : "/")hci")
        case .isNoSocket:
            self.init(.unreachable, "\(path) exists and is not a socket", remedy: "choose another path")
        case .inUse:
            self.init(
                .unreachable, "\(path) is in use",
                remedy: "choose another path, or end the process that listens there: ss -lxp")
        case .isForeign:
            self.init(.notPermitted, "the socket \(path) is another user's", remedy: "choose another path")
        case .leftover(let error):
            self.init(
                .notPermitted,
                "this user may not remove \(path), the socket of an ended process: \(error)",
                remedy: "choose another path")
        case .system(let error) where [ENOENT, ENOTDIR, EACCES, EROFS].contains(error.number):
            self.init(
                error.number == EACCES ? .notPermitted : .unreachable, "cannot listen on \(path): \(error)",
                remedy: "choose a path in a directory that is there and that you may write to")
        case .system(let error): self.init(.unreachable, "cannot listen on \(path): \(error)")
        }
    }
}
