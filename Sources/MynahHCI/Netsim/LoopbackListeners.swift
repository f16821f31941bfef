import Glibc

/// Determines, without connecting, whether a program listens on a port of this machine.
///
/// Every connection to netsim creates a controller, which would be visible to the emulator's user.
enum LoopbackListeners {
    static func listens(on port: UInt16) -> Bool {
        var isKnown = false
        for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
            guard let text = Descriptor.contents(of: table) else { continue }
            isKnown = true
            if listens(on: port, in: text) { return true }
        }
        return isKnown ? false : accepts(port)
    }

    /// Whether a socket table of the kernel (proc(5)) has a listening socket on this port.
    ///
    /// The socket must be reachable at 127.0.0.1.
    static func listens(on port: UInt16, in table: String) -> Bool {
        table.split(separator: "\n").contains { line in
            let columns = line.split(separator: " ")
            // 0A is TCP_LISTEN.
            guard columns.count > 3, columns[3] == "0A" else { return false }
            let local = columns[1].split(separator: ":")
            return local.count == 2 && UInt16(local[1], radix: 16) == port && isLoopback(local[0])
        }
    }

    /// Whether an address in a kernel table is a loopback address.
    ///
    /// Each group of 32 bits is in the machine's byte order.
    private static func isLoopback(_ text: Substring) -> Bool {
        var bytes: [UInt8] = []
        var rest = text
        while !rest.isEmpty {
            guard let word = UInt32(rest.prefix(8), radix: 16) else { return false }
            bytes += withUnsafeBytes(of: word) { Array($0) }
            rest = rest.dropFirst(8)
        }
        let isMapped = bytes.count == 16 && bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        let isFree = bytes.allSatisfy { $0 == 0 }
        return isFree || (bytes.count == 4 || isMapped) && bytes.suffix(4).first == 127
            || isMapped && bytes.suffix(4) == [0, 0, 0, 0]
    }

    /// Whether a port accepts a connection, for systems without the kernel's socket tables.
    ///
    /// On the loopback interface, the attempt to connect never blocks.
    static func accepts(_ port: UInt16) -> Bool {
        guard case .success(let descriptor) = Descriptor.socket(AF_INET, Descriptor.stream) else {
            return false
        }
        defer { systemClose(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let outcome = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                systemConnect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if outcome == 0 { return true }
        guard errno == EINPROGRESS else { return false }
        var waited = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&waited, 1, 1000) == 1 else { return false }
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0
    }
}
