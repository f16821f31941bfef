import MynahControl
import MynahTestSupport
import Testing

/// Requests that a web page can make a browser send, on the wire.
@Suite(.timeLimit(.minutes(15))) struct HTTPSecurityTests {
    @Test(arguments: [
        ("Host: evil.example", 421), ("Host: evil.example:%", 421), ("Host: 127.0.0.1:1", 421), ("X: y", 400),
        ("Host: localhost:%\r\nHost: evil.example", 400),
        ("Host: localhost:%\r\nOrigin: http://evil.example", 403),
        ("Host: localhost:%\r\nOrigin: null", 403), ("Host: localhost:%\r\nSec-Fetch-Site: cross-site", 403),
        ("Host: localhost:%\r\nOrigin: http://localhost:%\r\nSec-Fetch-Site: same-origin", 200),
        ("Host: 10.0.2.2:%", 200), ("Host: [::1]:%", 200),
    ])
    func `requests that a web page can cause are refused before the handler`(fields: String, status: Int)
        async throws
    {
        try await ServerRig.run { address, rig in
            let fields = fields.split(separator: "%", omittingEmptySubsequences: false)
                .joined(separator: "\(address.port)")
            for method in ["GET", "POST", "DELETE", "OPTIONS"] {
                let client = try RawConnection(address)
                try await client.send("\(method) /a HTTP/1.1\r\n\(fields)\r\n\r\n")
                let response = try await client.readResponse()
                #expect(response.status == status)
                if status != 200 {
                    #expect(response.isProblem)
                    #expect(try await client.hasEnded())
                }
            }
            #expect(rig.requestCount == (status == 200 ? 4 : 0))
        }
    }

    @Test func `no response lets a page of another origin read it`() async throws {
        try await ServerRig.run { address, _ in
            let client = try RawConnection(address)
            try await client.send(
                address.head("OPTIONS /a", "Origin: http://127.0.0.1:\(address.port)"))
            let response = try await client.readResponse()
            #expect(!response.headers.contains { $0.hasPrefix("access-control-") })
        }
    }

    @Test func `a Unix socket takes any Host and no Origin`() async throws {
        let directory = try TemporaryDirectory()
        try await ServerRig.run("unix:\(directory.path)/s") { address, _ in
            for (fields, status) in [("Host: evil.example", 200), ("Host: a\r\nOrigin: http://a", 403)] {
                let client = try RawConnection(address)
                try await client.send("GET /a HTTP/1.1\r\n\(fields)\r\n\r\n")
                #expect(try await client.readResponse().status == status)
            }
        }
    }
}
