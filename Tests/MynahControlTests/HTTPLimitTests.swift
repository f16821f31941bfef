import Glibc
import MynahControl
import MynahTestSupport
import Testing

/// Requests of hostile and broken clients, on the wire.
@Suite(.timeLimit(.minutes(15))) struct HTTPLimitTests {
    /// Sends bytes, and expects a problem of a status and the end of the connection; no request may reach
    /// the handler.
    private func expectRefusal(
        _ status: Int, _ options: HTTPServer.Options = ServerRig.patient,
        location: SourceLocation = #_sourceLocation, _ request: (ControlAddress) -> String
    ) async throws {
        try await ServerRig.run("127.0.0.1:0", options) { address, rig in
            let client = try RawConnection(address)
            try await client.send(request(address))
            let response = try await client.readResponse()
            #expect(response.status == status, sourceLocation: location)
            #expect(response.isProblem, sourceLocation: location)
            #expect(response.closes, sourceLocation: location)
            #expect(try await client.hasEnded(), sourceLocation: location)
            #expect(rig.requestCount == 0, sourceLocation: location)
            let next = try RawConnection(address)
            try await next.send(address.head("GET /a"))
            #expect(try await next.readResponse().status == 200, sourceLocation: location)
        }
    }

    private func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }

    // MARK: - Heads

    @Test func `a request line of 2 MB gets 431`() async throws {
        try await expectRefusal(431) { $0.head("GET /" + String(repeating: "a", count: 2 << 20)) }
    }

    @Test func `endless headers get 431, many short ones and one long one`() async throws {
        try await expectRefusal(431) { address in
            address.head("GET /").dropLast(2)
                + (0..<100_000).map { "X-\($0): \($0)\r\n" }.joined()
        }
        try await expectRefusal(431) { $0.head("GET /", "X: " + String(repeating: "a", count: 1 << 20)) }
    }

    @Test func `spaces and empty lines count too`() async throws {
        try await expectRefusal(431) { $0.head("GET /", "X:" + spaces(1 << 20)) }
        try await expectRefusal(431) { _ in String(repeating: "\r\n", count: 1 << 20) }
    }

    @Test func `a head of nearly 16 KiB is allowed`() async throws {
        try await ServerRig.run { address, _ in
            let client = try RawConnection(address)
            try await client.send(address.head("GET /a", "X: " + String(repeating: "a", count: 16_200)))
            #expect(try await client.readResponse().status == 200)
        }
    }

    @Test(arguments: ["", "GET", "GET / HTTP/1.1\r\nHos"])
    func `half a head gets 408 after its time, and nothing gets a closed connection`(part: String)
        async throws
    {
        var options = ServerRig.patient
        options.headTime = .milliseconds(20)
        if part.isEmpty { options.idleTime = .milliseconds(20) }
        try await ServerRig.run("127.0.0.1:0", options) { address, rig in
            let client = try RawConnection(address)
            if part.isEmpty {
                #expect(try await client.hasEnded())
            } else {
                try await client.send(part)
                let response = try await client.readResponse()
                #expect(response.status == 408)
                #expect(response.isProblem)
                #expect(try await client.hasEnded())
            }
            #expect(rig.requestCount == 0)
        }
    }

    @Test(arguments: [
        "nonsense\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\u{0}b\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\r\n\r\n",
        "FROB / HTTP/1.1\r\n\r\n",
    ])
    func `bytes that are not HTTP get 400`(bytes: String) async throws {
        try await expectRefusal(400) { _ in bytes }
    }

    @Test(arguments: ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET / HTTP/2.0\r\n\r\n"])
    func `another version gets 505 or 400`(bytes: String) async throws {
        try await ServerRig.run { address, rig in
            let client = try RawConnection(address)
            try await client.send(bytes)
            #expect([400, 505].contains(try await client.readResponse().status))
            #expect(try await client.hasEnded())
            #expect(rig.requestCount == 0)
        }
    }

    @Test(arguments: [
        "GET http://127.0.0.1/a", "GET *", "CONNECT example.com:443", "GET /%zz", "GET /%00", "GET /%ff",
        "GET /a#b",
    ])
    func `a target that is not a correct path gets 400`(line: String) async throws {
        try await expectRefusal(400) { $0.head(line) }
    }

    // MARK: - Bodies

    private static let json = "Content-Type: application/json"

    @Test(arguments: ["1048577", "1000000000000"])
    func `a body that would be too long gets 413 before it comes`(length: String) async throws {
        try await expectRefusal(413) { $0.head("PUT /a", Self.json, "Content-Length: \(length)") }
    }

    @Test func `a body that would be too long gets 413 also in the middle of sending it`() async throws {
        try await expectRefusal(413) {
            $0.head("PUT /a", Self.json, "Content-Length: 4000000") + spaces(4_000_000)
        }
    }

    @Test func `a body of just 1 MiB is allowed`() async throws {
        try await ServerRig.run { address, rig in
            let client = try RawConnection(address)
            try await client.send(
                address.head("PUT /a", Self.json, "Content-Length: 1048576")
                    + String(repeating: "b", count: 1 << 20))
            #expect(try await client.readResponse().body.utf8.count == 7 + 1 << 20)
            #expect(rig.requestCount == 1)
        }
    }

    @Test func `a chunked body over the limit gets 413, of large chunks and of small ones`() async throws {
        try await expectRefusal(413) {
            $0.head("PUT /a", Self.json, "Transfer-Encoding: chunked")
                + String(repeating: "8000\r\n\(spaces(0x8000))\r\n", count: 33)
        }
        var options = ServerRig.patient
        options.bodyLimit = 1000
        try await expectRefusal(413, options) {
            $0.head("PUT /a", Self.json, "Transfer-Encoding: chunked")
                + String(repeating: "1\r\nx\r\n", count: 1001)
        }
        try await expectRefusal(413, options) {
            $0.head("PUT /missing", Self.json, "Transfer-Encoding: chunked")
                + String(repeating: "1\r\nx\r\n", count: 1001)
        }
    }

    @Test func `endless chunk extensions and trailers get 400`() async throws {
        try await expectRefusal(400) {
            $0.head("PUT /a", Self.json, "Transfer-Encoding: chunked") + "1;"
                + String(repeating: "a", count: 1 << 20)
        }
        try await ServerRig.run { address, rig in
            let client = try RawConnection(address)
            try await client.send(
                address.head("PUT /a", Self.json, "Transfer-Encoding: chunked") + "0\r\n"
                    + String(repeating: "A: b\r\n", count: 100_000))
            #expect([400, 431].contains(try await client.readResponse().status))
            #expect(rig.requestCount == 0)
        }
    }

    @Test func `half a body gets 408 after its time`() async throws {
        var options = ServerRig.patient
        options.bodyTime = .milliseconds(20)
        try await expectRefusalOfHalf(options)
    }

    private func expectRefusalOfHalf(_ options: HTTPServer.Options) async throws {
        for framing in ["Content-Length: 10", "Transfer-Encoding: chunked"] {
            try await ServerRig.run("127.0.0.1:0", options) { address, rig in
                let client = try RawConnection(address)
                try await client.send(address.head("PUT /a", Self.json, framing) + "5\r\n")
                let response = try await client.readResponse()
                #expect(response.status == 408)
                #expect(response.isProblem)
                #expect(rig.requestCount == 0)
            }
        }
    }

    @Test(arguments: [
        "Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5\r\nContent-Length: 5",
        "Content-Length: 5, 5",
        "Content-Length: -5", "Content-Length: +5", "Content-Length: 0x5", "Content-Length: 5 5",
        "Content-Length:",
        "Content-Length: 99999999999999999999999999",
        "Transfer-Encoding: gzip", "Transfer-Encoding: chunked, gzip", "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: xchunked", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding : chunked", "Transfer-Encoding:", "Transfer-Encoding: \"chunked\"",
    ])
    func `a body whose length can be read in two ways gets 400`(fields: String) async throws {
        // A second request is hidden where one reader would see a body and another would not.
        try await expectRefusal(400) { address in
            address.head("POST /a", Self.json, fields) + "0\r\n\r\n" + address.head("GET /hidden")
        }
    }

    @Test(arguments: ["g\r\n", "-1\r\n", "1\r\nab\r\n", "ffffffffffffffffff\r\n", "\r\n"])
    func `a chunk that is not one gets 400 or 413`(chunk: String) async throws {
        try await ServerRig.run { address, rig in
            let client = try RawConnection(address)
            try await client.send(address.head("POST /a", Self.json, "Transfer-Encoding: chunked") + chunk)
            #expect([400, 413].contains(try await client.readResponse().status))
            #expect(try await client.hasEnded())
            #expect(rig.requestCount == 0)
        }
    }

    @Test func `an expectation other than 100-continue gets 417`() async throws {
        try await expectRefusal(417) { $0.head("GET /a", "Expect: miracles") }
    }

    @Test(arguments: ["Content-Type: text/plain", "Content-Type: application/x-www-form-urlencoded", "X: y"])
    func `a body that is not JSON gets 415 after a missing path gets 404`(type: String) async throws {
        try await ServerRig.run { address, rig in
            let client = try RawConnection(address)
            for (path, status) in [("missing", 404), ("a", 415)] {
                try await client.send(address.head("POST /\(path)", type, "Content-Length: 2") + "{}")
                let response = try await client.readResponse()
                #expect(response.status == status)
                #expect(response.isProblem)
            }
            #expect(rig.requestCount == 0)
            try await client.send(
                address.head("POST /a", "Content-Type: Application/JSON; charset=utf-8", "Content-Length: 2")
                    + "{}")
            #expect(try await client.readResponse().status == 200)
            try await client.send(address.head("POST /b"))
            #expect(try await client.readResponse().status == 200)
        }
    }

    // MARK: - Connections

    @Test func `a connection that would leave too few descriptors gets 503`() async throws {
        var options = ServerRig.patient
        options.descriptorReserve = .max
        try await ServerRig.run("127.0.0.1:0", options) { address, rig in
            let client = try RawConnection(address)
            let response = try await client.readResponse()
            #expect(response.status == 503)
            #expect(response.body.contains("may not open more files"), "\(response.body)")
            #expect(try await client.hasEnded())
            #expect(rig.requestCount == 0)
        }
    }

    @Test func `connections over the limit get 503, and those below it are served`() async throws {
        var options = ServerRig.patient
        options.connectionLimit = 4
        try await ServerRig.run("127.0.0.1:0", options) { address, _ in
            var idle: [RawConnection] = []
            for _ in 0..<4 {
                let client = try RawConnection(address)
                try await client.send(address.head("GET /a"))
                #expect(try await client.readResponse().status == 200)
                idle.append(client)
            }
            for _ in 0..<200 {
                let client = try RawConnection(address)
                let response = try await client.readResponse()
                #expect(response.status == 503)
                #expect(response.isProblem)
                #expect(try await client.hasEnded())
            }
            try await idle[3].send(address.head("GET /b"))
            #expect(try await idle[3].readResponse().body == "GET /b ")
            idle.removeFirst()
            try await until("a place is free") {
                let client = try RawConnection(address)
                try await client.send(address.head("GET /a"))
                return try await client.readResponse().status == 200
            }
        }
    }

    @Test func `a client over the limit that sent its request first gets 503, not a reset`() async throws {
        var options = ServerRig.patient
        options.connectionLimit = 0
        try await ServerRig.run("127.0.0.1:0", options) { address, rig in
            for _ in 0..<100 {
                let client = try RawConnection(address)
                try await client.send(address.head("PUT /a", "Content-Length: 20000"))
                try await client.send(String(repeating: " ", count: 20_000))
                let response = try await client.readResponse()
                #expect(response.status == 503 && response.isProblem)
                #expect(try await client.hasEnded())
            }
            #expect(rig.requestCount == 0)
        }
    }

    @Test func `a client over the limit that floods is closed`() async throws {
        var options = ServerRig.patient
        options.connectionLimit = 0
        try await ServerRig.run("127.0.0.1:0", options) { address, rig in
            let client = try RawConnection(address)
            let piece = String(repeating: " ", count: 64 << 10)
            try await until("the server's side is closed") { try await !client.send(piece) }
            #expect(rig.requestCount == 0)
        }
    }

    @Test func `a connection without requests is closed after its time, also a used one`() async throws {
        var options = ServerRig.patient
        options.idleTime = .milliseconds(50)
        try await ServerRig.run("127.0.0.1:0", options) { address, _ in
            #expect(try await RawConnection(address).hasEnded())
            let client = try RawConnection(address)
            if try await client.send(address.head("GET /a")) {
                _ = try await client.readToEnd()
            }
            #expect(try await client.hasEnded())
        }
    }

    @Test func `a client that does not close after its last response is closed`() async throws {
        var options = ServerRig.patient
        options.lingerTime = .milliseconds(20)
        try await ServerRig.run("127.0.0.1:0", options) { address, _ in
            let client = try RawConnection(address)
            try await client.send(address.head("GET /a", "Connection: close"))
            #expect(try await client.readResponse().status == 200)
            try await until("the server's side is closed") { try await !client.send("more") }
            #expect(try await client.hasEnded())
        }
    }

    @Test(arguments: ["127.0.0.1:0", "unix:"])
    func `a stream that nobody reads keeps no more than the socket holds, and ends`(address: String)
        async throws
    {
        let directory = try TemporaryDirectory()
        var options = ServerRig.patient
        options.idleTime = .milliseconds(500)
        try await ServerRig.run(address == "unix:" ? "unix:\(directory.path)/s" : address, options) {
            address, rig in
            let client = try RawConnection(address, receiveBuffer: 4096)
            try await client.send(address.head("GET /flood"))
            let written = try await rig.streams.take()[0]
            // The most that both ends' socket buffers hold; the stream has no end of its own.
            #expect(written < 16 << 20)
        }
    }
}
