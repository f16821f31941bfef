public import MynahCore

/// The address of a controller, as given on the command line.
public enum HCITransportAddress: Hashable, Sendable {
    /// `tcp-client:HOST:PORT`: the controller accepts connections at this address.
    case tcpClient(host: String, port: UInt16)
    /// `tcp-server:PORT` or `tcp-server:HOST:PORT`: the controller connects to this address.
    ///
    /// By default, only a controller on this machine can connect.
    case tcpServer(host: String, port: UInt16)
    /// `unix:PATH`: the controller accepts connections at this Unix domain socket.
    case unixClient(path: String)
    /// `unix-server:PATH`: the controller connects to this Unix domain socket.
    case unixServer(path: String)
    /// `pty:PATH`, or `serial:PATH` with an optional `,BAUD`: the controller is on a terminal device.
    case serial(path: String, baud: Int?)
    /// `user:N`: the controller is the adapter hciN of this machine.
    ///
    /// The kernel's user channel gives this process exclusive use of the adapter.
    case userChannel(UInt16)

    /// The forms of an address, for messages and help.
    package static let forms = [
        "tcp-client:HOST:PORT", "tcp-server:PORT", "unix:PATH", "unix-server:PATH", "pty:PATH",
        "serial:PATH,BAUD", "user:N",
    ]

    /// The default host, which is this machine.
    static let loopback = "127.0.0.1"

    /// Parses an address of the command line.
    public init(parsing text: String) throws(RadioError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let rest = parts.count > 1 ? String(parts[1]) : ""
        func path() throws(RadioError) -> String {
            guard !rest.isEmpty else { throw Self.trouble("\(text) has no path") }
            return rest
        }
        switch parts[0] {
        case "tcp-client":
            let (host, port) = try Self.hostAndPort(rest, in: text)
            guard port > 0 else { throw Self.trouble("\(text) has the port 0, which accepts no connections") }
            self = .tcpClient(host: host, port: port)
        case "tcp-server":
            let (host, port) = try Self.hostAndPort(rest, in: text)
            self = .tcpServer(host: host, port: port)
        case "unix", "unix-client": self = .unixClient(path: try path())
        case "unix-server": self = .unixServer(path: try path())
        case "pty": self = .serial(path: try path(), baud: nil)
        case "serial":
            let path = try path()
            guard let comma = path.lastIndex(of: ",") else {
                self = .serial(path: path, baud: SerialLine.usualBaud)
                return
            }
            let baud = Int(path[path.index(after: comma)...])
            guard let baud, SerialLine.speed(baud) != nil, comma > path.startIndex else {
                throw Self.trouble(
                    "\(text) has no valid baud rate, such as 115200 or 1000000")
            }
            self = .serial(path: String(path[..<comma]), baud: baud)
        case "user":
            let number = rest.hasPrefix("hci") ? String(rest.dropFirst(3)) : rest
            guard let number = UInt16(number), number < 0xFFFF else {
                throw Self.trouble("\(text) has no adapter number; user:0 is hci0")
            }
            self = .userChannel(number)
        default:
            throw Self.trouble("\(text.isEmpty ? "nothing" : text) is not a controller's address")
        }
    }

    /// The forms of an address at which hosts can connect, for messages and help.
    package static let listeningForms = ["tcp:HOST:PORT", "tcp:PORT", "unix:PATH"]

    /// Parses the place where hosts connect to a controller: `tcp:HOST:PORT`, `tcp:PORT` or `unix:PATH`.
    package init(listeningAt text: String) throws(RadioError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let rest = parts.count > 1 ? String(parts[1]) : ""
        switch parts[0] {
        case "tcp":
            let (host, port) = try Self.hostAndPort(rest, in: text, Self.listeningForms)
            self = .tcpServer(host: host, port: port)
        case "unix" where !rest.isEmpty: self = .unixServer(path: rest)
        case "unix": throw Self.trouble("\(text) has no path", Self.listeningForms)
        default:
            let name = text.isEmpty ? "nothing" : text
            throw Self.trouble("\(name) is no place to listen at", Self.listeningForms)
        }
    }

    private static func trouble(_ message: String, _ forms: [String] = forms) -> RadioError {
        RadioError(.unreachable, message, remedy: "write one of \(forms.joined(separator: ", "))")
    }

    /// Parses `HOST:PORT`, `[IPv6]:PORT`, or `PORT` alone.
    private static func hostAndPort(
        _ text: String, in whole: String, _ forms: [String] = forms
    ) throws(RadioError) -> (String, UInt16) {
        let colon = text.lastIndex(of: ":")
        let digits = colon.map { text[text.index(after: $0)...] } ?? text[...]
        guard let port = UInt16(digits), !digits.hasPrefix("+") else {
            throw trouble("\(whole) has no port from 0 to 65535", forms)
        }
        var host = colon.map { String(text[..<$0]) } ?? loopback
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            throw trouble("\(whole) has colons in its host: write an IPv6 address in brackets", forms)
        }
        return (host.isEmpty ? loopback : host, port)
    }

    /// Makes a transport to the controller, which is not open yet.
    ///
    /// A server calls `whenListening` with its address as soon as a controller can connect.
    public func transport(
        whenListening: @escaping @Sendable (_ place: String) -> Void = { _ in }
    ) -> any HCITransport {
        SocketTransport(self, whenListening: whenListening)
    }
}

extension HCITransportAddress: CustomStringConvertible {
    /// The address in the form of the command line.
    public var description: String {
        switch self {
        case .tcpClient(let host, let port): "tcp-client:\(Self.endpoint(host, port))"
        case .tcpServer(let host, let port): "tcp-server:\(Self.endpoint(host, port))"
        case .unixClient(let path): "unix:\(path)"
        case .unixServer(let path): "unix-server:\(path)"
        case .serial(let path, nil): "pty:\(path)"
        case .serial(let path, let baud?): "serial:\(path),\(baud)"
        case .userChannel(let number): "user:\(number)"
        }
    }

    /// Returns `HOST:PORT`, in which an IPv6 address is in brackets.
    static func endpoint(_ host: String, _ port: UInt16) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
