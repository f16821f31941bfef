import Glibc
import MynahCore
import MynahSupport

extension SocketAddress {
    /// Looks up the addresses of a host on a separate thread, because a name server may be slow.
    static func resolve(_ host: String, _ port: UInt16) async throws(RadioError) -> [SocketAddress] {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<[SocketAddress], RadioError>, Never>) in
            SystemThread.start { continuation.resume(returning: lookUp(host, port)) }
        }
        return try result.get()
    }

    /// Looks up the addresses of a host; blocks until the name server answers.
    static func lookUp(_ host: String, _ port: UInt16) -> Result<[SocketAddress], RadioError> {
        var hints = addrinfo()
        hints.ai_socktype = Descriptor.stream
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, "\(port)", &hints, &found)
        guard code == 0 else {
            let reason = gai_strerror(code).map { String(cString: $0) } ?? "\(code)"
            return .failure(RadioError(.unreachable, "the host \(host) is not found: \(reason)"))
        }
        defer { freeaddrinfo(found) }
        var addresses: [SocketAddress] = []
        var next = found
        while let each = next {
            if let address = each.pointee.ai_addr {
                let bytes = UnsafeRawBufferPointer(start: address, count: Int(each.pointee.ai_addrlen))
                addresses.append(SocketAddress(family: each.pointee.ai_family, bytes: Array(bytes)))
            }
            next = each.pointee.ai_next
        }
        return .success(addresses)
    }

    /// Makes a socket send small packets without delay (TCP_NODELAY).
    static func hurry(_ descriptor: Int32) {
        var on: Int32 = 1
        _ = setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }
}
