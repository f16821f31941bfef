import Glibc
import MynahSupport

extension ListeningSocket {
    /// Opens the listening socket of a control server.
    ///
    /// NIO itself would let other users access the socket file until its mode is changed, and would remove a
    /// path that another process has since taken over.
    init(_ address: ControlAddress) async throws(ControlError) {
        switch address {
        case .tcp(let host, let port):
            do throws(SystemError) {
                self = try ListeningSocket(host.socketAddress(port: port), isDualStack: false)
            } catch {
                throw ControlError(error, host, port)
            }
        case .unix(let path):
            do throws(PathProblem) {
                self = try await ListeningSocket(path: path, isPrivate: true)
            } catch {
                throw ControlError(error, path)
            }
        }
    }
}

extension ControlAddress {
    /// Returns the address with the port that the system has chosen.
    func bound(by socket: ListeningSocket) -> ControlAddress {
        guard case .tcp(let host, _) = self, let port = socket.port else { return self }
        return .tcp(host: host, port: port)
    }
}

extension ControlError {
    /// Makes the error for a failure to listen on a port of an address.
    fileprivate init(_ error: SystemError, _ host: IPAddress, _ port: UInt16) {
        switch error.number {
        case EADDRINUSE:
            self.init(
                .inUse, "the port \(port) is in use",
                remedy: "choose another, or 0 for a free one; ss -ltnp shows the process that has it")
        case EACCES:
            self.init(
                .notPermitted, "this user may not listen on port \(port)", remedy: "choose one above 1023")
        case EADDRNOTAVAIL:
            self.init(.invalidAddress, "\(host.text) is not an address of this machine")
        default: self.init(.unavailable, "cannot listen on \(host.authority):\(port): \(error)")
        }
    }

    /// Makes the error for a failure to listen at a path.
    fileprivate init(_ problem: ListeningSocket.PathProblem, _ path: String) {
        switch problem {
        case .pathTooLong: self.init(.invalidAddress, "the socket path \(path) is too long")
        case .isDirectory:
            self.init(
                .inUse, "\(path) exists and is not a socket",
                remedy: "name a socket in this directory")
        case .isNoSocket:
            self.init(.inUse, "\(path) exists and is not a socket", remedy: "choose another path")
        case .inUse:
            self.init(
                .inUse, "another process listens on \(path)",
                remedy: "choose another path, or end that process")
        case .isForeign:
            self.init(
                .notPermitted, "the socket \(path) is another user's", remedy: "choose another path")
        case .leftover(let error):
            self.init(
                .notPermitted,
                "this user may not remove \(path), the socket of an ended process: \(error)",
                remedy: "choose another path")
        case .system(let error) where [EACCES, EPERM, EROFS].contains(error.number):
            self.init(
                .notPermitted, "this user may not create \(path): \(error)",
                remedy: "choose a path in a directory of your own")
        case .system(let error) where [ENOENT, ENOTDIR].contains(error.number):
            self.init(.unavailable, "the directory of \(path) does not exist", remedy: "create it")
        case .system(let error): self.init(.unavailable, "cannot listen on \(path): \(error)")
        }
    }
}

extension IPAddress {
    /// Returns the address and a port for the system's socket calls.
    func socketAddress(port: UInt16) -> SocketAddress {
        // `sockaddr_in` is not used: NIO also has a module that declares it, and the order of the build
        // decides which declaration is found. The layout is that of ip(7) and ipv6(7).
        let family = isIPv6 ? AF_INET6 : AF_INET
        var address: [UInt8] = []
        withUnsafeBytes(of: sa_family_t(family)) { address += $0 }
        address += [UInt8(port >> 8), UInt8(port & 0xFF)]
        // IPv6 has flow information before the address, and a scope after it.
        address += isIPv6 ? [0, 0, 0, 0] + bytes + [0, 0, 0, 0] : bytes + [UInt8](repeating: 0, count: 8)
        return SocketAddress(family: family, bytes: address)
    }
}
