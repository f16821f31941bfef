import MynahControl
import Testing

@Suite struct ControlAddressTests {
    @Test(arguments: [
        ("127.0.0.1:0", "http://127.0.0.1:0"), ("localhost:8080", "http://127.0.0.1:8080"),
        ("http://LOCALHOST:80/", "http://127.0.0.1:80"), ("[::1]:65535", "http://[::1]:65535"),
        ("[0:0:0:0:0:0:0:1]:1", "http://[::1]:1"), ("0.0.0.0:1", "http://0.0.0.0:1"),
        ("unix:/run/user/1/mynah.sock", "unix:/run/user/1/mynah.sock"), ("unix:a b", "unix:a b"),
    ])
    func `an address is read, and its text names it`(text: String, description: String) throws {
        let address = try ControlAddress(text)
        #expect("\(address)" == description)
        #expect(try ControlAddress(description) == address)
    }

    @Test(arguments: [
        "", "off", "8080", "localhost", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1",
        "127.0.0.1:a",
        ":80", "example.com:80", "127.1:80", "::1:80", "[127.0.0.1]:80", "[::1:80", "https://127.0.0.1:80",
        "http://127.0.0.1:80/v1", "unix:", "unix:/a\u{0}b", "127.0.0.1\u{0}:80",
    ])
    func `another text is an error`(text: String) {
        let error = #expect(throws: ControlError.self) { try ControlAddress(text) }
        #expect(error?.code == .invalidAddress)
    }

    @Test func `a socket path has to fit into the system's address`() throws {
        let longest = "/" + String(repeating: "a", count: 106)
        #expect(try ControlAddress("unix:" + longest) == .unix(path: longest))
        #expect(throws: ControlError.self) { try ControlAddress("unix:" + longest + "a") }
    }

    @Test func `off is no address`() throws {
        #expect(try ControlAddress.optional("off") == nil)
        #expect(try ControlAddress.optional("unix:off") == .unix(path: "off"))
        #expect(throws: ControlError.self) { try ControlAddress.optional("no") }
    }

    @Test(arguments: [
        ("127.0.0.1:0", true), ("127.9.9.9:0", true), ("[::1]:0", true), ("unix:/a", true),
        ("0.0.0.0:0", false),
        ("192.0.2.1:0", false), ("[::]:0", false), ("[::ffff:127.0.0.1]:0", false),
    ])
    func `only loopback and Unix sockets are of this machine alone`(text: String, isLocal: Bool) throws {
        #expect(try ControlAddress(text).isLocal == isLocal)
    }
}
