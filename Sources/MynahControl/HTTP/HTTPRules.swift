import MynahSupport

/// The rules by which the server refuses a request from its head alone, before the handler gets any of it.
///
/// Any web page can send requests to a loopback address, and DNS rebinding lets it read the responses. So
/// Host, Origin and Sec-Fetch-Site are checked.
struct HTTPRules: Sendable {
    /// The longest body, in bytes.
    var bodyLimit: Int
    /// The token that requests over TCP need, or `nil` if they need none.
    var token: String?
    /// The address that the client has connected to, or `nil` for a Unix socket, which only its owner can
    /// open.
    var local: LocalAddress?

    /// A TCP address of this machine.
    struct LocalAddress: Hashable, Sendable {
        var host: IPAddress
        var port: UInt16
    }

    /// The names of this machine's loopback address in a Host header; 10.0.2.2 is its address inside an
    /// Android emulator.
    private static let loopbackNames = [
        IPAddress.loopback, IPAddress("::1"), IPAddress("10.0.2.2"),
    ]

    /// The reason to refuse a request, or `nil` if it is allowed.
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

    /// The problem of a body that is not JSON: browsers send JSON to another site only after a preflight
    /// request.
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

    /// The problem of a request without a valid token, which is in a header, in the page's cookie, or once in
    /// the query of the page's address.
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

    /// The response to a request with the token in the query of the page's address: a redirect to the page,
    /// and the cookie; `nil` for any other request.
    func signIn(_ head: HTTPHead) -> HTTPResponse? {
        guard let local, PageSession.token(inTargetOf: head) != nil else { return nil }
        return PageSession.signIn(token, port: local.port)
    }

    /// Whether an authority (RFC 3986, 3.2) contains an IP address of this server; a name is not accepted,
    /// because another site could make a browser resolve it to this server.
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
