import Testing

@testable import MynahControl

@Suite struct HTTPRulesTests {
    private static let loopback = HTTPRules(
        bodyLimit: 100, token: nil, local: .init(host: .loopback, port: 8080))
    private static let unix = HTTPRules(bodyLimit: 100, token: "secret", local: nil)

    private func head(_ method: String, _ fields: [(String, String)], minorVersion: Int = 1) -> HTTPHead {
        HTTPHead(
            method: method, target: "/", minorVersion: minorVersion,
            headers: fields.map { HTTPField($0.0, $0.1) })
    }

    @Test(
        arguments: [
            ("127.0.0.1:8080", nil), ("localhost:8080", nil), ("LocalHost:8080", nil), ("[::1]:8080", nil),
            ("10.0.2.2:8080", nil), ("127.0.0.1", 421), ("127.0.0.1:8081", 421), ("127.0.0.1:08080x", 421),
            ("127.0.0.1:", 421), ("evil.example:8080", 421), ("localhost.evil.example:8080", 421),
            ("localhost.:8080", 421), ("192.0.2.1:8080", 421), ("::1:8080", 421), ("[::1]", 421), ("", 421),
            ("2130706433:8080", 421), ("0x7f.1:8080", 421), ("127.0.0.1:8080@evil.example:8080", 421),
            ("evil.example:8080@127.0.0.1:8080", 421),
        ] as [(String, Int?)])
    func `Host has to name this server, with its port`(host: String, status: Int?) {
        #expect(Self.loopback.refusal(of: head("GET", [("Host", host)]))?.status == status)
        #expect(Self.unix.refusal(of: head("GET", [("Host", host)])) == nil)
    }

    @Test func `the port may be missing if it is 80, and the bound address is a name of the server`() throws {
        let address = try #require(IPAddress("192.0.2.1"))
        let rules = HTTPRules(bodyLimit: 100, token: nil, local: .init(host: address, port: 80))
        for host in ["192.0.2.1", "192.0.2.1:80", "localhost", "[::1]"] {
            #expect(rules.refusal(of: head("GET", [("hOST", host)])) == nil)
        }
        #expect(rules.refusal(of: head("GET", [("Host", "192.0.2.2")]))?.status == 421)
    }

    @Test func `a request has one Host, but of HTTP 1.0 on a Unix socket none is enough`() {
        let host = ("Host", "localhost:8080")
        #expect(Self.loopback.refusal(of: head("GET", [host, host]))?.status == 400)
        #expect(Self.loopback.refusal(of: head("GET", []))?.status == 400)
        #expect(Self.loopback.refusal(of: head("GET", [], minorVersion: 0))?.status == 421)
        #expect(Self.unix.refusal(of: head("GET", []))?.status == 400)
        #expect(Self.unix.refusal(of: head("GET", [], minorVersion: 0)) == nil)
    }

    @Test(
        arguments: [
            ("http://localhost:8080", nil), ("http://127.0.0.1:8080", nil), ("HTTP://[::1]:8080", nil),
            ("http://localhost:3000", 403), ("http://localhost", 403), ("https://localhost:8080", 403),
            ("null", 403),
            ("", 403), ("http://evil.example", 403), ("http://localhost:8080.evil.example", 403),
            ("http://localhost:8080/", 403), ("chrome-extension://abc", 403),
        ] as [(String, Int?)])
    func `Origin has to be this server's, and a Unix socket has none`(origin: String, status: Int?) {
        let fields = [("Host", "localhost:8080"), ("Origin", origin)]
        #expect(Self.loopback.refusal(of: head("GET", fields))?.status == status)
        #expect(Self.unix.refusal(of: head("GET", fields))?.status == 403)
        #expect(
            Self.loopback.refusal(of: head("GET", fields + [("Origin", "http://evil.example")]))?.status
                == 403)
    }

    @Test(
        arguments: [
            ("same-origin", nil), ("none", nil), ("same-site", nil), ("cross-site", 403),
            ("Cross-Site ", 403),
            ("none, cross-site", 403),
        ] as [(String, Int?)])
    func `a request that a browser calls cross-site is refused`(site: String, status: Int?) {
        let fields = [("Host", "localhost:8080"), ("Sec-Fetch-Site", site)]
        #expect(Self.loopback.refusal(of: head("GET", fields))?.status == status)
        #expect(Self.unix.refusal(of: head("GET", fields))?.status == status)
    }

    @Test(
        arguments: [
            (["Bearer secret"], nil), (["bearer  secret "], nil), ([], 403), (["secret"], 403),
            (["Bearer"], 403),
            (["Bearer secre"], 403), (["Bearer secret2"], 403), (["Bearer Secret"], 403),
            (["Basic c2VjcmV0"], 403),
            (["Bearer secret", "Bearer secret"], 403),
        ] as [([String], Int?)])
    func `a server with a token needs it over TCP`(values: [String], status: Int?) {
        var rules = Self.loopback
        rules.token = "secret"
        let fields = [("Host", "localhost:8080")] + values.map { ("Authorization", $0) }
        #expect(rules.refusal(of: head("GET", fields))?.status == status)
        #expect(Self.unix.refusal(of: head("GET", fields)) == nil)
    }

    @Test(
        arguments: [
            ([], .absent), ([("Content-Length", "0")], .absent), ([("Content-Length", "100")], .known(100)),
            ([("Transfer-Encoding", "Chunked")], .chunked),
            ([("Content-Length", "1"), ("content-length", "1")], nil),
            ([("Content-Length", "1"), ("Transfer-Encoding", "chunked")], nil),
            ([("Content-Length", "-1")], nil),
            ([("Content-Length", "")], nil), ([("Content-Length", "99999999999999999999")], .known(.max)),
            ([("Transfer-Encoding", "gzip")], nil), ([("Transfer-Encoding", "gzip, chunked")], nil),
            ([("Transfer-Encoding", "")], nil),
            ([("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "chunked")], nil),
        ] as [([(String, String)], HTTPHead.BodyLength?)])
    func `the body's length is clear or the request is refused`(
        fields: [(String, String)], length: HTTPHead.BodyLength?
    ) {
        let head = head("PUT", [("Host", "localhost:8080")] + fields)
        #expect(head.bodyLength == length)
        let status: Int? =
            switch length {
            case nil: 400
            case .known(let length)?: length > 100 ? 413 : nil
            case .absent?, .chunked?: nil
            }
        #expect(Self.loopback.refusal(of: head)?.status == status)
    }

    @Test(
        arguments: [
            ("POST", ["application/json"], false, nil),
            ("PUT", ["Application/JSON ; charset=utf-8"], false, nil),
            ("PATCH", ["text/plain"], false, 415), ("POST", ["application/jsonp"], false, 415),
            ("POST", [], false, 415),
            ("POST", [], true, nil), ("POST", ["text/plain"], true, 415),
            ("POST", ["application/json", "text/plain"], true, 415),
            ("POST", [""], false, 415), ("GET", ["text/plain"], true, nil), ("DELETE", [], true, nil),
        ] as [(String, [String], Bool, Int?)])
    func `a body has to be JSON`(method: String, types: [String], isEmpty: Bool, status: Int?) {
        let fields = types.map { ("Content-Type", $0) } + (isEmpty ? [] : [("Content-Length", "2")])
        #expect(HTTPRules.mediaTypeProblem(head(method, fields))?.status == status)
    }
}
