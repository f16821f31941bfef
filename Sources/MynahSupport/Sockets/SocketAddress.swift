package import Glibc

/// A socket address in the form that system calls need.
package struct SocketAddress: Hashable, Sendable {
    /// The address family: `AF_INET`, `AF_INET6` or `AF_UNIX`.
    package let family: Int32
    private let bytes: [UInt8]

    /// Makes an address from the bytes of a `sockaddr`, which begin with the family.
    package init(family: Int32, bytes: [UInt8]) {
        self.family = family
        self.bytes = bytes
    }

    /// Makes the address of a Unix domain socket, or `nil` if the path is empty or has more than 107 bytes
    /// (unix(7)).
    package init?(path: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        self.init(family: AF_UNIX, bytes: withUnsafeBytes(of: &address) { Array($0) })
    }

    /// Calls `body` with the address and its length.
    package func with<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        // Large enough and aligned for any address.
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: bytes.prefix($0.count)) }
        return withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(bytes.count)) }
        }
    }

    /// The port to which a socket is bound, or `nil` for a Unix domain socket.
    package static func port(of descriptor: Int32) -> UInt16? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard code == 0,
            storage.ss_family == sa_family_t(AF_INET) || storage.ss_family == sa_family_t(AF_INET6)
        else { return nil }
        // In both families the port follows the family, most significant byte first.
        return withUnsafeBytes(of: &storage) { UInt16($0[2]) << 8 | UInt16($0[3]) }
    }
}
