import Glibc

/// A stream socket that accepts connections.
package struct ListeningSocket: Sendable {
    /// The reason why a socket cannot listen at a path.
    package enum PathProblem: Error, Hashable, Sendable {
        /// The path is empty or has more than 107 bytes.
        case pathTooLong
        /// There is a directory at the path.
        case isDirectory
        /// The file at the path is not a socket.
        case isNoSocket
        /// Another process listens at the path.
        case inUse
        /// The socket at the path belongs to another user.
        case isForeign
        /// A process that has ended left its socket at the path, and the socket cannot be removed.
        case leftover(SystemError)
        /// Another error of the system.
        case system(SystemError)
    }

    /// The device and inode of a socket's file, which differ for a later file with the same path.
    private struct FileIdentity: Hashable {
        var device: dev_t
        var inode: ino_t

        /// The identity of the socket at a path, or `nil` if there is none.
        init?(_ path: String) {
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
            (device, inode) = (status.st_dev, status.st_ino)
        }
    }

    /// The socket's descriptor, in non-blocking mode.
    package let descriptor: Int32
    private let file: (path: String, identity: FileIdentity?)?

    /// The port of a TCP socket, or `nil` for other sockets.
    package var port: UInt16? { SocketAddress.port(of: descriptor) }

    // MARK: - TCP

    /// Makes a socket that listens on a TCP port; with port 0 the system chooses a free one.
    ///
    /// - Parameter isDualStack: Whether IPv4 clients can connect too if the address is `::`.
    package init(_ address: SocketAddress, isDualStack: Bool) throws(SystemError) {
        descriptor = try Self.bound(to: address, isDualStack) { listen($0, Self.backlog) == 0 }
        file = nil
    }

    /// The error that a socket would get if it listened on a TCP port, or `nil` if the port is free.
    ///
    /// The port is bound and released again. Nothing listens on it meanwhile, so no client can connect.
    package static func error(at address: SocketAddress, isDualStack: Bool) -> SystemError? {
        do throws(SystemError) {
            systemClose(try bound(to: address, isDualStack) { _ in true })
            return nil
        } catch {
            return error
        }
    }

    private static func bound(
        to address: SocketAddress, _ isDualStack: Bool, isUsable: (Int32) -> Bool
    ) throws(SystemError) -> Int32 {
        let made = try make(address.family)
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, size)
        // Connections inherit this option: responses are small, and clients wait for them.
        setsockopt(made, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
        if address.family == AF_INET6, !isDualStack {
            setsockopt(made, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, size)
        }
        if address.with({ bind(made, $0, $1) }) == 0, isUsable(made) { return made }
        let error = SystemError(errno)
        systemClose(made)
        throw error
    }

    // MARK: - Unix domain

    /// Makes a socket that listens at a path.
    ///
    /// If a process that has ended left its socket at the path, that socket is replaced.
    ///
    /// While another process opens a socket in the same directory, this call waits for a moment.
    ///
    /// - Parameter isPrivate: Whether only this user can connect; otherwise the umask of the process decides.
    package init(path: String, isPrivate: Bool) async throws(PathProblem) {
        let lock = await DirectoryLock(of: path)
        defer { lock.release() }
        guard let address = SocketAddress(path: path) else { throw .pathTooLong }
        try Self.removeLeftover(path)
        let made: Int32
        do throws(SystemError) {
            made = try Self.make(AF_UNIX)
        } catch {
            throw .system(error)
        }
        // On Linux the new file takes the mode of the socket: at no time may another user connect.
        if isPrivate { fchmod(made, 0o600) }
        let isBound = address.with { bind(made, $0, $1) } == 0
        guard isBound, listen(made, Self.backlog) == 0 else {
            let error = SystemError(errno)
            systemClose(made)
            if isBound { unlink(path) }
            throw error.number == EADDRINUSE ? .inUse : .system(error)
        }
        descriptor = made
        file = (path, FileIdentity(path))
    }

    /// The reason why a socket cannot listen at a path, or `nil` if no reason was found.
    ///
    /// No socket is made for this check, so listening can still fail.
    package static func problem(at path: String) -> PathProblem? {
        guard SocketAddress(path: path) != nil else { return .pathTooLong }
        do throws(PathProblem) {
            _ = try find(path)
        } catch {
            return error
        }
        return access(Directory.parent(of: path), W_OK | X_OK) == 0 ? nil : .system(SystemError(errno))
    }

    /// The state of a path at which a socket is to be made.
    private enum Found {
        case nothing
        /// A socket on which no process listens.
        case leftover
    }

    private static func find(_ path: String) throws(PathProblem) -> Found {
        var status = stat()
        guard lstat(path, &status) == 0 else { return .nothing }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            // To the user, a link to a directory is a directory.
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { throw .isNoSocket }
            throw .isDirectory
        }
        switch UnixSocketPath(path).problem?.number {
        case ECONNREFUSED: return .leftover
        case ENOENT: return .nothing
        case EACCES, EPERM: throw .isForeign
        // The socket has another type, or a process listens: it is in use.
        default: throw .inUse
        }
    }

    private static func removeLeftover(_ path: String) throws(PathProblem) {
        guard try find(path) == .leftover else { return }
        guard unlink(path) == 0 || errno == ENOENT else { throw .leftover(SystemError(errno)) }
    }

    // MARK: -

    /// Accepts a connection and returns its non-blocking descriptor; returns `nil` if no client is waiting.
    package func accept() -> Int32? {
        let accepted = systemAccept(descriptor)
        guard accepted >= 0 else { return nil }
        _ = fcntl(accepted, F_SETFL, fcntl(accepted, F_GETFL, 0) | O_NONBLOCK)
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        return accepted
    }

    /// Stops listening, and removes the socket's file.
    package func close() {
        // First, because another file may get the inode after the socket is closed.
        removePath()
        systemClose(descriptor)
    }

    /// Removes the file of a Unix domain socket, unless another socket has replaced it.
    ///
    /// After that, no client can connect.
    package func removePath() {
        guard let file, let identity = file.identity, FileIdentity(file.path) == identity else { return }
        unlink(file.path)
    }

    private static let backlog: Int32 = 4096

    private static func make(_ family: Int32) throws(SystemError) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let made = socket(family, type, 0)
        guard made >= 0 else { throw SystemError(errno) }
        return made
    }
}

/// A lock of a directory, which one process holds while it makes a socket there.
///
/// Between `bind` and `listen`, another process could take the new socket for a leftover. It could also
/// remove a socket that has just replaced a leftover. The lock is on the directory itself, so that there is
/// no lock file to leave behind.
private struct DirectoryLock {
    private let descriptor: Int32

    /// Locks the directory that contains a path.
    ///
    /// Nothing is locked if the directory cannot be opened, or if another program still has it locked after a
    /// second. Mynah itself holds the lock only for an instant.
    init(of path: String) async {
        descriptor = open(Directory.parent(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return }
        for _ in 0..<100 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK { return }
            // flock(2) either blocks the thread or has to be tried again.
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    func release() {
        if descriptor >= 0 { close(descriptor) }
    }
}

// At file scope: inside the types, these names are methods.
private func systemAccept(_ descriptor: Int32) -> Int32 { accept(descriptor, nil, nil) }
private func systemClose(_ descriptor: Int32) { close(descriptor) }
