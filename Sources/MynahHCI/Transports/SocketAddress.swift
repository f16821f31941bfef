import Glibc
import MynahCore
import MynahSupport

/// Addresses of the system's sockets, and sockets at them.
enum SocketAddress {
    /// The addresses of a host and port.
    struct Resolved: Sendable {
        var family: Int32
        var bytes: [UInt8]

        func with<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
            // As much room, and as aligned, as any address wants.
            var storage = sockaddr_storage()
            withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: bytes.prefix($0.count)) }
            return withUnsafePointer(to: &storage) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(bytes.count))
                }
            }
        }
    }

    /// Looks a host up, on a thread of its own: a name server may be slow.
    static func resolve(_ host: String, _ port: UInt16) async throws(RadioError) -> [Resolved] {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<[Resolved], RadioError>, Never>) in
            SystemThread.start { continuation.resume(returning: lookUp(host, port)) }
        }
        return try result.get()
    }

    /// Looks a host up; a name server may be slow.
    static func lookUp(_ host: String, _ port: UInt16) -> Result<[Resolved], RadioError> {
        var hints = addrinfo()
        hints.ai_socktype = Descriptor.stream
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, "\(port)", &hints, &found)
        guard code == 0 else {
            let reason = gai_strerror(code).map { String(cString: $0) } ?? "\(code)"
            return .failure(RadioError(.unreachable, "the host \(host) is not found: \(reason)"))
        }
        defer { freeaddrinfo(found) }
        var addresses: [Resolved] = []
        var next = found
        while let each = next {
            if let address = each.pointee.ai_addr {
                let bytes = UnsafeRawBufferPointer(start: address, count: Int(each.pointee.ai_addrlen))
                addresses.append(Resolved(family: each.pointee.ai_family, bytes: Array(bytes)))
            }
            next = each.pointee.ai_next
        }
        return .success(addresses)
    }

    /// The port that a socket has been given.
    static func port(of descriptor: Int32) -> UInt16? {
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

    /// Answers are small and are waited for.
    static func hurry(_ descriptor: Int32) {
        var on: Int32 = 1
        _ = setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }
}
