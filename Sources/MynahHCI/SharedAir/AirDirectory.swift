#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
import MynahCore
import MynahSupport

/// The directory in which the processes of one air find each other: a socket of each, named by a number that is drawn.
struct AirDirectory: Sendable {
    let path: String

    /// What the variables say: `MYNAH_AIR`, else a directory of this user's session, else one beside the temporary files.
    static func standard(_ environment: (String) -> String? = Self.variable) -> AirDirectory {
        if let path = environment("MYNAH_AIR"), !path.isEmpty { return AirDirectory(path: path) }
        if let session = environment("XDG_RUNTIME_DIR"), session.hasPrefix("/") {
            return AirDirectory(path: session + "/mynah-air")
        }
        var temporary = environment("TMPDIR") ?? ""
        if !temporary.hasPrefix("/") { temporary = "/tmp" }
        while temporary.count > 1, temporary.hasSuffix("/") { temporary.removeLast() }
        return AirDirectory(path: "\(temporary)/mynah-air-\(geteuid())")
    }

    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// Sees that it is there and nobody else's.
    func prepare() throws(RadioError) {
        let remedy = "set MYNAH_AIR to a directory of your own"
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            throw RadioError(
                .unreachable, "the directory of the air, \(path), cannot be made: \(SystemError(errno))",
                remedy: remedy)
        }
        var status = stat()
        guard lstat(path, &status) == 0 else {
            throw RadioError(
                .unreachable, "the directory of the air, \(path), cannot be read: \(SystemError(errno))",
                remedy: remedy)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw RadioError(
                .unreachable, "\(path) is to be the directory of the air, but is none", remedy: remedy)
        }
        // Who can put a socket there is on the air, and who could put a link there could send us elsewhere.
        guard status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            throw RadioError(
                .notPermitted, "the directory of the air, \(path), can be written by others",
                remedy: remedy)
        }
    }

    // MARK: - Sockets in it

    /// The name of a process's socket.
    static func name(of node: UInt64) -> String {
        Hex.encode((0..<8).map { UInt8(truncatingIfNeeded: node >> (56 - 8 * $0)) })
    }

    func path(of node: UInt64) -> String { path + "/" + Self.name(of: node) }

    /// Whom there are sockets of.
    func nodes() throws(RadioError) -> [UInt64] {
        guard let directory = opendir(path) else {
            throw RadioError(
                .unreachable, "the directory of the air, \(path), cannot be listed: \(SystemError(errno))")
        }
        defer { closedir(directory) }
        var found: [UInt64] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.utf8.count == 16, let bytes = Hex.decode(name), bytes.count == 8 else { continue }
            found.append(bytes.reduce(0) { $0 << 8 | UInt64($1) })
        }
        return found.sorted()
    }

    /// Opens this process's socket, so that it has its name only when one can connect to it.
    func listen(as node: UInt64) throws(RadioError) -> Int32 {
        let temporary = path + "/." + Self.name(of: node)
        let descriptor: Int32
        switch Descriptor.socket(AF_UNIX, Descriptor.sequencedPackets) {
        case .success(let made): descriptor = made
        case .failure(let error): throw RadioError(.unreachable, "a socket cannot be made: \(error)")
        }
        let bound = Descriptor.withUnixAddress(temporary) { bind(descriptor, $0, $1) }
        guard let bound else {
            close(descriptor)
            throw RadioError(
                .unreachable, "the directory of the air, \(path), has too long a name for sockets in it",
                remedy: "set MYNAH_AIR to one with a shorter name")
        }
        guard bound == 0, systemListen(descriptor) == 0, rename(temporary, path(of: node)) == 0
        else {
            let error = SystemError(errno)
            close(descriptor)
            unlink(temporary)
            throw RadioError(.unreachable, "a socket cannot be made in \(path): \(error)")
        }
        return descriptor
    }

    /// Connects to another's socket; nil: nobody is there any more, or nobody takes us.
    func connect(to node: UInt64) -> Int32? {
        guard case .success(let descriptor) = Descriptor.socket(AF_UNIX, Descriptor.sequencedPackets)
        else { return nil }
        let path = path(of: node)
        let outcome = Descriptor.withUnixAddress(path) { systemConnect(descriptor, $0, $1) }
        if outcome == 0 { return descriptor }
        // Who died left the socket behind. A name is never given again, so nobody else's is taken away.
        if outcome != nil, errno == ECONNREFUSED { unlink(path) }
        close(descriptor)
        return nil
    }

    func remove(_ node: UInt64) {
        unlink(path(of: node))
    }
}
