import Glibc

/// A stream socket that listens.
package struct ListeningSocket: Sendable {
    /// The reason why nothing can listen at a path.
    package enum PathProblem: Error, Hashable, Sendable {
        /// The path has more than 107 bytes, or none.
        case pathTooLong
        /// The path is a directory's.
        case isDirectory
        /// The path is another file's.
        case isNoSocket
        /// Another process listens there.
        case inUse
        /// The socket at the path is another user's.
        case isForeign
        /// The socket of a process that has ended cannot be removed.
        case leftover(SystemError)
        /// Another error of the system.
        case system(SystemError)
    }

    /// Tells a socket's file from one that was made later under the same name.
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

    /// The descriptor, which does not block.
    package let descriptor: Int32
    private let file: (path: String, identity: FileIdentity?)?

    /// The port, of a TCP socket.
    package var port: UInt16? { SocketAddress.port(of: descriptor) }

    // MARK: - TCP

    /// Listens on a TCP port; port 0 is any that is free.
    ///
    /// - Parameter isDualStack: Whether IPv4 may reach it too if the address is `::`.
    package init(_ address: SocketAddress, isDualStack: Bool) throws(SystemError) {
        descriptor = try Self.bound(to: address, isDualStack) { listen($0, Self.backlog) == 0 }
        file = nil
    }

    /// The error of listening on a TCP port, or `nil` if it is free.
    ///
    /// The port is bound and let go again. Nothing listens on it meanwhile, so nobody connects.
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
        // Connections inherit it: answers are small and are waited for.
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

    /// Listens at a path; the socket of a process that has ended is replaced.
    ///
    /// This may wait a moment for another process that opens a socket in the same directory.
    ///
    /// - Parameter isPrivate: Whether only this user may connect; otherwise the process' umask says who may.
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

    /// The reason why nothing can listen at a path, as far as it is known without making a socket there.
    package static func problem(at path: String) -> PathProblem? {
        guard SocketAddress(path: path) != nil else { return .pathTooLong }
        do throws(PathProblem) {
            _ = try find(path)
        } catch {
            return error
        }
        return access(Directory.parent(of: path), W_OK | X_OK) == 0 ? nil : .system(SystemError(errno))
    }

    /// A path's present use, where a socket can be made.
    private enum Found {
        case nothing
        /// A socket on which nobody listens.
        case leftover
    }

    private static func find(_ path: String) throws(PathProblem) -> Found {
        var status = stat()
        guard lstat(path, &status) == 0 else { return .nothing }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            // A link to a directory is one for its user, too.
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { throw .isNoSocket }
            throw .isDirectory
        }
        switch UnixSocketPath(path).problem?.number {
        case ECONNREFUSED: return .leftover
        case ENOENT: return .nothing
        case EACCES, EPERM: throw .isForeign
        // It has another type, or somebody listens: somebody has it.
        default: throw .inUse
        }
    }

    private static func removeLeftover(_ path: String) throws(PathProblem) {
        guard try find(path) == .leftover else { return }
        guard unlink(path) == 0 || errno == ENOENT else { throw .leftover(SystemError(errno)) }
    }

    // MARK: -

    /// The descriptor of a new connection, which does not block, or `nil` if there is none.
    package func accept() -> Int32? {
        let accepted = systemAccept(descriptor)
        guard accepted >= 0 else { return nil }
        _ = fcntl(accepted, F_SETFL, fcntl(accepted, F_GETFL, 0) | O_NONBLOCK)
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        return accepted
    }

    /// Ends listening, and removes the path.
    package func close() {
        // Before it is closed: its inode may be another's afterwards.
        removePath()
        systemClose(descriptor)
    }

    /// Removes the path of a Unix domain socket, if it is still this one's: nobody connects from now on.
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

/// A lock of a directory that keeps other processes from taking a socket for a leftover while this one is
/// between `bind` and `listen`, or from removing the one that has just replaced a leftover.
///
/// The directory itself is locked, so that no file of the lock's own is left.
private struct DirectoryLock {
    private let descriptor: Int32

    /// Locks the directory of a path.
    ///
    /// There is no lock if the directory cannot be opened, or if another program keeps it locked: the lock is
    /// held for an instant only.
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

// Beside methods of the same names.
private func systemAccept(_ descriptor: Int32) -> Int32 { accept(descriptor, nil, nil) }
private func systemClose(_ descriptor: Int32) { close(descriptor) }
