import Glibc

/// The address of the control API: a TCP port or a Unix socket.
package enum ControlAddress: Hashable, Sendable {
    /// A TCP port of an IP address; port 0 lets the system choose one.
    case tcp(host: IPAddress, port: UInt16)
    /// A Unix socket.
    case unix(path: String)

    /// The longest path of a Unix socket, in bytes: `sun_path` without its terminating zero (unix(7)).
    static let pathLimit = 107

    private static let forms = "write HOST:PORT, unix:PATH or off"

    /// Parses `HOST:PORT`, `http://HOST:PORT` or `unix:PATH`.
    ///
    /// HOST is `localhost` (127.0.0.1), an IPv4 address, or an IPv6 address in brackets. Other names are not
    /// accepted, because servers of Mynah refuse them in a Host header.
    package init(_ text: String) throws(ControlError) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            guard !path.isEmpty, !path.utf8.contains(0) else {
                throw ControlError(.invalidAddress, "\"unix:\" needs the path of a socket")
            }
            guard path.utf8.count <= Self.pathLimit else {
                throw ControlError(
                    .invalidAddress,
                    "the socket path is \(path.utf8.count) bytes long; the system allows \(Self.pathLimit)",
                    remedy: "choose a shorter path")
            }
            self = .unix(path: path)
            return
        }
        var authority = text[...]
        if authority.hasPrefix("http://") {
            authority = authority.dropFirst(7)
            if authority.hasSuffix("/") { authority = authority.dropLast() }
        }
        guard let colon = authority.lastIndex(of: ":") else {
            throw ControlError(.invalidAddress, "\"\(text)\" is not a control address", remedy: Self.forms)
        }
        let digits = authority[authority.index(after: colon)...]
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits) else {
            throw ControlError(.invalidAddress, "\"\(digits)\" is not a port", remedy: Self.forms)
        }
        guard let host = IPAddress(host: authority[..<colon]) else {
            throw ControlError(
                .invalidAddress, "\"\(authority[..<colon])\" is not an IP address",
                remedy: "write localhost, an IPv4 address, or an IPv6 address in brackets")
        }
        self = .tcp(host: host, port: port)
    }

    /// Parses an address like the initializer; returns `nil` for `off`.
    package static func optional(_ text: String) throws(ControlError) -> ControlAddress? {
        text == "off" ? nil : try ControlAddress(text)
    }

    /// Whether only this machine can connect to the address.
    package var isLocal: Bool {
        switch self {
        case .unix: true
        case .tcp(let host, _): host.isLoopback
        }
    }

    var isUnixSocket: Bool {
        switch self {
        case .unix: true
        case .tcp: false
        }
    }

    /// The value of a Host header for the address (RFC 9110, 7.2).
    var authority: String {
        switch self {
        case .unix: "localhost"
        case .tcp(let host, let port): "\(host.authority):\(port)"
        }
    }
}

extension ControlAddress: CustomStringConvertible {
    /// `http://HOST:PORT` or `unix:PATH`.
    package var description: String {
        switch self {
        case .unix(let path): "unix:\(path)"
        case .tcp: "http://\(authority)"
        }
    }
}

/// An IPv4 or IPv6 address.
package struct IPAddress: Hashable, Sendable {
    /// The 4 or 16 bytes of the address, in network byte order.
    let bytes: [UInt8]

    static let loopback = IPAddress(bytes: [127, 0, 0, 1])

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Parses a numeric address without brackets.
    init?(_ text: String) {
        guard text.utf8.count <= 45, !text.utf8.contains(0) else { return nil }
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            bytes = withUnsafeBytes(of: &four) { Array($0) }
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            bytes = withUnsafeBytes(of: &six) { Array($0) }
        } else {
            return nil
        }
    }

    /// Parses the host of a URL (RFC 3986, 3.2.2): `localhost`, or a numeric address, with brackets for
    /// IPv6.
    init?(host: Substring) {
        if host.lowercased() == "localhost" {
            self = .loopback
        } else if host.hasPrefix("["), host.hasSuffix("]") {
            self.init(String(host.dropFirst().dropLast()))
            guard isIPv6 else { return nil }
        } else {
            self.init(String(host))
            guard !isIPv6 else { return nil }
        }
    }

    var isIPv6: Bool { bytes.count == 16 }

    var isLoopback: Bool {
        isIPv6 ? bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1 : bytes.first == 127
    }

    /// The address as the host in a URL.
    var authority: String { isIPv6 ? "[\(text)]" : text }

    /// The address in its usual notation.
    var text: String {
        var room = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(isIPv6 ? AF_INET6 : AF_INET, bytes, &room, socklen_t(room.count)) != nil else {
            return ""
        }
        return String(decoding: room.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
