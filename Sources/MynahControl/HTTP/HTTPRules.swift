import MynahSupport

/// The rules by which the server refuses requests from their heads, before the handler receives them.
///
/// Any web page can send requests to a loopback address, and DNS rebinding lets it read the responses. The
/// rules therefore check Host, Origin and Sec-Fetch-Site.
struct HTTPRules: Sendable {
    /// The longest body, in bytes.
    var bodyLimit: Int
    /// The token that requests over TCP must have, or `nil` if they need none.
    var token: String?
    /// The local address of the connection, or `nil` for a Unix socket, to which only its owner can connect.
    var local: LocalAddress?

    /// A TCP address of this machine.
    struct LocalAddress: Hashable, Sendable {
        var host: IPAddress
        var port: UInt16
    }

    /// The names of this machine's loopback address in a Host header; 10.0.2.2 is the name inside an Android
    /// emulator.
    private static let loopbackNames = [
        IPAddress.loopback, IPAddress("::1"), IPAddress("10.0.2.2"),
    ]

    /// Returns the reason to refuse a request, or `nil` if the request is allowed.
    func refusal(of head: HTTPHead) -> ControlProblem? {
        switch head.bodyLength {
        case nil:
            return ControlProblem(
                400, "Content-Length and Transfer-Encoding do not say clearly how long the body is")
        case .known(let length) where length > bodyLimit: return Self.tooLong(bodyLimit)
        case .known, .chunked, .absent: break
        }
        if let problem = hostProblem(head) ?? originProblem(head) ?? tokenProblem(head) { return problem }
        if head.headers.list("expect").contains(where: { $0 != "100-continue" }) {
            return ControlProblem(417, "the only supported expectation is 100-continue")
        }
        return nil
    }

    static func tooLong(_ limit: Int) -> ControlProblem {
        ControlProblem(413, "the body is longer than \(limit) bytes")
    }

    /// Returns the problem of a request whose body is not declared as JSON, or `nil`.
    ///
    /// Browsers send JSON to another site only after a preflight request.
    static func mediaTypeProblem(_ head: HTTPHead) -> ControlProblem? {
        guard ["POST", "PUT", "PATCH"].contains(head.method) else { return nil }
        let types = head.headers.values(of: "content-type")
        let isJSON = types.allSatisfy {
            ($0.split(separator: ";", omittingEmptySubsequences: false)[0]).trimmed.lowercased()
                == "application/json"
        }
        if isJSON, !types.isEmpty || head.bodyLength == .absent { return nil }
        return ControlProblem(415, "the body must be JSON; send Content-Type: application/json")
    }

    private func hostProblem(_ head: HTTPHead) -> ControlProblem? {
        let hosts = head.headers.values(of: "host")
        guard hosts.count == 1 || hosts.isEmpty && head.minorVersion == 0 else {
            return ControlProblem(400, "a request needs exactly one Host header")
        }
        guard let local else { return nil }
        guard let host = hosts.first, names(host[...], local) else {
            let address = ControlAddress.tcp(host: local.host, port: local.port).authority
            return ControlProblem(
                421, "the Host header \(Self.quoted(hosts.first ?? "")) is not this server's; use \(address)")
        }
        return nil
    }

    private func originProblem(_ head: HTTPHead) -> ControlProblem? {
        for origin in head.headers.values(of: "origin") {
            guard let local, origin.lowercased().hasPrefix("http://"), names(origin.dropFirst(7), local)
            else {
                return ControlProblem(403, "web pages of \(Self.quoted(origin)) have no access")
            }
        }
        guard !head.headers.list("sec-fetch-site").contains("cross-site") else {
            return ControlProblem(403, "web pages of other sites have no access")
        }
        return nil
    }

    /// Returns the problem of a request without a valid token, or `nil`.
    ///
    /// The token can be in a header or in the page's cookie, or in the query of the page's address, for
    /// signing in.
    private func tokenProblem(_ head: HTTPHead) -> ControlProblem? {
        guard let local, let token else { return nil }
        let given = head.headers.values(of: "authorization")
        if given.isEmpty {
            if let token = PageSession.token(inTargetOf: head) { return problem(ofToken: token) }
            if PageSession.isSent(token, port: local.port, by: head) { return nil }
        }
        guard given.count == 1, given[0].lowercased().hasPrefix("bearer ") else {
            return ControlProblem(
                403,
                """
                this server needs its token; send Authorization: Bearer TOKEN, or open /?token=TOKEN in a \
                browser
                """)
        }
        return problem(ofToken: given[0].dropFirst(7).trimmed)
    }

    private func problem(ofToken given: String) -> ControlProblem? {
        guard let token, !Self.areEqual(given, token) else { return nil }
        return ControlProblem(403, "the token is not this server's")
    }

    /// Returns the response to a request that has the token in the query of the page's address.
    ///
    /// This is a redirect to the page, with the cookie. Returns `nil` for any other request.
    func signIn(_ head: HTTPHead) -> HTTPResponse? {
        guard let local, PageSession.token(inTargetOf: head) != nil else { return nil }
        return PageSession.signIn(token, port: local.port)
    }

    /// Whether an authority (RFC 3986, 3.2) has an IP address of this server.
    ///
    /// Names are not accepted, because another site could make a browser resolve a name to this server.
    private func names(_ authority: Substring, _ local: LocalAddress) -> Bool {
        var host = authority
        var port: UInt16? = 80
        if let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") {
            host = authority[..<colon]
            let digits = authority[authority.index(after: colon)...]
            port = digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt16(digits) : nil
        }
        guard port == local.port, let address = IPAddress(host: host) else { return false }
        return address == local.host || Self.loopbackNames.contains(address)
    }

    private static func quoted(_ text: String) -> String { "\"\(text.prefix(utf8: 100))\"" }

    /// Compares two texts in a time that depends only on their lengths.
    static func areEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
