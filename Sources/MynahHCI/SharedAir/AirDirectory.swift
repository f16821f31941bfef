import Glibc
import MynahCore
import MynahSupport

/// The directory in which the processes of one `SharedAir` find each other.
///
/// Each process has a socket there, whose name is a random number.
struct AirDirectory: Sendable {
    /// The identity of a socket file, which differs from that of a later file with the same name.
    struct Identity: Hashable {
        var device: dev_t
        var inode: ino_t
    }

    let path: String

    /// The age in seconds from which a socket that refuses connections is considered a leftover.
    ///
    /// The process of a younger socket may be between `bind` and `listen`.
    static let leftoverAge: Int64 = 2

    private static let remedy = "set MYNAH_AIR to a directory of your own"

    /// Creates the directory if it is missing, and checks that no other user can write to it.
    func prepare() throws(RadioError) {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw cannotBeCreated(SystemError(errno)) }
        try check()
    }

    /// The error that `prepare` would throw, or `nil` if no obstacle is known.
    ///
    /// The directory is not created to find this out.
    var problem: RadioError? {
        do throws(RadioError) {
            guard SocketAddress(path: path(of: 0)) != nil else { throw tooLong }
            var status = stat()
            if lstat(path, &status) == 0 {
                try check()
                if access(path, W_OK | X_OK) != 0 { throw unusable(SystemError(errno)) }
            } else if access(Directory.parent(of: path), W_OK | X_OK) != 0 {
                throw cannotBeCreated(SystemError(errno))
            }
            return nil
        } catch {
            return error
        }
    }

    private func cannotBeCreated(_ error: SystemError) -> RadioError {
        RadioError(
            .unreachable, "the virtual radio's directory \(path) cannot be created: \(error)",
            remedy: Self.remedy)
    }

    /// Checks that no other user can write to the directory.
    private func check() throws(RadioError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            throw RadioError(
                .unreachable, "the virtual radio's directory \(path) cannot be read: \(SystemError(errno))",
                remedy: Self.remedy)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw RadioError(
                .unreachable, "the virtual radio's directory \(path) is not a directory", remedy: Self.remedy)
        }
        // A user who can put a socket there is on the air, and could also put a link to another place there.
        guard status.st_uid == geteuid() else {
            throw RadioError(
                .notPermitted,
                """
                the virtual radio's directory \(path) belongs to user \(status.st_uid), and this is user \
                \(geteuid())
                """,
                remedy: "run this as that user, or \(Self.remedy)")
        }
        guard status.st_mode & 0o022 == 0 else {
            throw RadioError(
                .notPermitted, "the virtual radio's directory \(path) is writable by other users",
                remedy: "run chmod go-w \(ShellWord.quoted(path)), or \(Self.remedy)")
        }
    }

    // MARK: - Sockets in it

    /// Returns the file name of a process's socket.
    static func name(of node: UInt64) -> String {
        Hex.encode((0..<8).map { UInt8(truncatingIfNeeded: node >> (56 - 8 * $0)) })
    }

    func path(of node: UInt64) -> String { path + "/" + Self.name(of: node) }

    /// Returns the processes that have a socket in the directory.
    ///
    /// Other files, links and directories with such names are ignored.
    func nodes() throws(RadioError) -> [UInt64] {
        guard let names = Directory.names(in: path) else {
            throw RadioError(
                .unreachable, "the virtual radio's directory \(path) cannot be listed: \(SystemError(errno))")
        }
        var found: [UInt64] = []
        for name in names {
            guard name.utf8.count == 16, let bytes = Hex.decode(name), bytes.count == 8 else { continue }
            let node = bytes.reduce(0) { $0 << 8 | UInt64($1) }
            if name == Self.name(of: node), socket(of: node) != nil { found.append(node) }
        }
        return found.sorted()
    }

    /// Returns the identity of a process's socket, or `nil` if the process has no socket.
    func identity(of node: UInt64) -> Identity? {
        socket(of: node).map { Identity(device: $0.st_dev, inode: $0.st_ino) }
    }

    private func socket(of node: UInt64) -> stat? {
        var status = stat()
        guard lstat(path(of: node), &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        return status
    }

    /// Opens this process's socket, and returns its descriptor.
    ///
    /// The socket is bound under its final name: systemd-tmpfiles spares the sockets that the kernel lists,
    /// and the kernel lists the name that was bound. If the process is killed before it listens, the next
    /// process that joins removes the socket as a leftover.
    func listen(as node: UInt64) throws(RadioError) -> Int32 {
        let descriptor = try bind(as: node)
        guard systemListen(descriptor) == 0 else {
            let error = SystemError(errno)
            close(descriptor)
            remove(node)
            throw unusable(error)
        }
        return descriptor
    }

    /// Binds this process's socket, which does not listen yet.
    func bind(as node: UInt64) throws(RadioError) -> Int32 {
        let descriptor: Int32
        switch Descriptor.socket(AF_UNIX, Descriptor.sequencedPackets) {
        case .success(let made): descriptor = made
        case .failure(let error): throw RadioError(.unreachable, "a socket cannot be made: \(error)")
        }
        switch SocketAddress(path: path(of: node))?.with({ systemBind(descriptor, $0, $1) }) {
        case 0?: return descriptor
        case nil:
            close(descriptor)
            throw tooLong
        default:
            let error = SystemError(errno)
            close(descriptor)
            throw unusable(error)
        }
    }

    private var tooLong: RadioError {
        RadioError(
            .unreachable, "the virtual radio's directory \(path) has too long a name for sockets in it",
            remedy: "set MYNAH_AIR to one with a shorter name")
    }

    private func unusable(_ error: SystemError) -> RadioError {
        RadioError(.unreachable, "a socket cannot be made in \(path): \(error)", remedy: Self.remedy)
    }

    /// Connects to the socket of another process.
    ///
    /// Returns `nil` if that process has ended, or does not accept the connection.
    func connect(to node: UInt64) -> Int32? {
        guard case .success(let descriptor) = Descriptor.socket(AF_UNIX, Descriptor.sequencedPackets)
        else { return nil }
        let outcome = SocketAddress(path: path(of: node))?.with { systemConnect(descriptor, $0, $1) }
        if outcome == 0 { return descriptor }
        if outcome != nil, errno == ECONNREFUSED { removeLeftover(node) }
        close(descriptor)
        return nil
    }

    /// Removes a socket that refuses connections, unless it is too young.
    ///
    /// The process of a young socket may be about to listen.
    private func removeLeftover(_ node: UInt64) {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        guard let status = socket(of: node), Int64(now.tv_sec - status.st_mtim.tv_sec) > Self.leftoverAge
        else { return }
        unlink(path(of: node))
    }

    /// Removes the socket of a process, but not another kind of file with the same name.
    func remove(_ node: UInt64) {
        if socket(of: node) != nil { unlink(path(of: node)) }
    }
}
