import MynahControl
import MynahSupport
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct HTTPServerTests {
    @Test func `a request is answered, and the connection takes the next one`() async throws {
        try await ServerRig.run { address, _ in
            let client = try RawConnection(address)
            try await client.send(address.head("GET /a%20b/c?x=1"))
            let first = try await client.readResponse()
            #expect(first.status == 200)
            #expect(first.body == "GET /a b/c ")
            #expect(!first.closes)
            #expect(first.headers.contains("cache-control: no-store"))
            #expect(first.headers.contains("x-content-type-options: nosniff"))
            try await client.send(
                address.head("PUT /value", "Content-Type: application/json", "Content-Length: 2") + "{}")
            #expect(try await client.readResponse().body == "PUT /value {}")
        }
    }

    @Test func `a body may be chunked, and a request may come byte by byte`() async throws {
        try await ServerRig.run { address, _ in
            let client = try RawConnection(address)
            let request =
                address.head("POST /a", "Content-Type: application/json", "Transfer-Encoding: chunked")
                + "2;name=value\r\n{\"\r\n1\r\na\r\n0\r\nTrailer: x\r\n\r\n"
            for byte in Array(request.utf8) { try await client.send([byte]) }
            #expect(try await client.readResponse().body == "POST /a {\"a")
        }
    }

    @Test func `pipelined requests are answered one after the other, in order`() async throws {
        try await ServerRig.run { address, rig in
            let client = try RawConnection(address)
            try await client.send(
                address.head("GET /gate") + address.head("GET /missing") + address.head("GET /c")
                    + "nonsense\r\n\r\n")
            #expect(try await rig.requests.take() == ["GET /gate"])
            #expect(rig.requestCount == 1)
            rig.gate.put(())
            #expect(try await client.readResponse().body == "passed")
            #expect(try await client.readResponse().status == 404)
            #expect(try await client.readResponse().body == "GET /c ")
            #expect(try await client.readResponse().status == 400)
            #expect(try await client.hasEnded())
        }
    }

    @Test func `bytes that come while a request is answered wait in the socket`() async throws {
        try await ServerRig.run { address, rig in
            let client = try RawConnection(address)
            try await client.send(address.head("GET /gate"))
            #expect(try await rig.requests.take() == ["GET /gate"])
            for number in 0..<1000 { try await client.send(address.head("GET /\(number)")) }
            rig.gate.put(())
            #expect(try await client.readResponse().body == "passed")
            for number in 0..<1000 {
                #expect(try await client.readResponse().body == "GET /\(number) ")
            }
        }
    }

    @Test func `HEAD gets the head of the response and no body`() async throws {
        try await ServerRig.run { address, _ in
            let client = try RawConnection(address)
            try await client.send(address.head("HEAD /large") + address.head("GET /a"))
            let head = try await client.readResponse(hasBody: false)
            #expect(head.headers.contains("content-length: 1048576"))
            #expect(try await client.readResponse().body == "GET /a ")
        }
    }

    @Test func `a client that waits for permission to send its body gets it`() async throws {
        try await ServerRig.run { address, rig in
            let client = try RawConnection(address)
            try await client.send(
                address.head(
                    "POST /a", "Content-Type: application/json", "Content-Length: 2", "Expect: 100-continue"))
            #expect(try await client.readResponse().status == 100)
            #expect(rig.requestCount == 0)
            try await client.send("{}")
            #expect(try await client.readResponse().body == "POST /a {}")
        }
    }

    @Test func `a request of HTTP 1.0, and one that says so, is the last of its connection`() async throws {
        try await ServerRig.run { address, _ in
            for request in [
                "GET /a HTTP/1.0\r\nHost: localhost:\(address.port)\r\n\r\n",
                address.head("GET /a", "Connection: close"),
                address.head("GET /a", "Connection: Upgrade", "Upgrade: h2c"),
            ] {
                let client = try RawConnection(address)
                try await client.send(request + address.head("GET /b"))
                let response = try await client.readResponse()
                #expect(response.body == "GET /a ")
                #expect(response.closes)
                #expect(try await client.hasEnded())
            }
        }
    }

    @Test func `a large response comes whole`() async throws {
        try await ServerRig.run { address, _ in
            let client = try RawConnection(address)
            try await client.send(address.head("GET /large"))
            let body = try await client.readResponse().body
            #expect(body.utf8.count == 1 << 20)
            #expect(body.hasSuffix("cdef"))
        }
    }

    @Test func `a stream is sent as it is written`() async throws {
        try await ServerRig.run { address, rig in
            let client = try RawConnection(address)
            try await client.send(address.head("GET /stream"))
            let head = try await client.readResponse()
            #expect(head.headers.contains("content-type: text/event-stream"))
            #expect(head.headers.contains("transfer-encoding: chunked"))
            #expect(try await client.read(through: "id: 2\ndata: event 2\n\n").contains("data: event 0\n\n"))
            rig.gate.put(())
            #expect(try await rig.ends.take() == [false])
            #expect(try await client.read(through: "0\r\n\r\n").hasSuffix("\r\n0\r\n\r\n"))
            try await client.send(address.head("GET /a"))
            #expect(try await client.readResponse().body == "GET /a ")
        }
    }

    @Test func `a header field that would end its line early is left out`() async throws {
        try await ServerRig.run { address, _ in
            let client = try RawConnection(address)
            try await client.send(address.head("GET /split"))
            let headers = try await client.readResponse().headers
            #expect(headers.contains("x-kept: yes"))
            #expect(!headers.contains { $0.contains("injected") })
        }
    }

    @Test(arguments: ["127.0.0.1:0", "unix:"], ["hang", "stream", "hang, reset", "stream, reset"])
    func `a client that vanishes cancels the task that answers it`(address: String, way: String) async throws
    {
        let directory = try TemporaryDirectory()
        let path = way.prefix { $0 != "," }
        try await ServerRig.run(address == "unix:" ? "unix:\(directory.path)/s" : address) { address, rig in
            let client = try RawConnection(address)
            try await client.send(address.head("GET /\(path)"))
            if path == "stream" { _ = try await client.read(through: "event 2") }
            #expect(try await rig.requests.take() == ["GET /\(path)"])
            if path == way { client.finish() } else { client.reset() }
            #expect(try await rig.ends.take() == [true])
        }
    }

    @Test func `clients that vanish one after the other leave the server as it was`() async throws {
        try await ServerRig.run { address, rig in
            for number in 0..<16 {
                let path = number & 1 == 0 ? "hang" : "stream"
                let client = try RawConnection(address)
                try await client.send(address.head("GET /\(path)"))
                if path == "stream" { _ = try await client.read(through: "event 2") }
                #expect(try await rig.requests.take() == ["GET /\(path)"])
                if number & 2 == 0 { client.finish() } else { client.reset() }
                #expect(try await rig.ends.take() == [true])
            }
            let client = try RawConnection(address)
            try await client.send(address.head("GET /a"))
            #expect(try await client.readResponse().status == 200)
        }
    }

    @Test func `the server's end lets a request finish and closes idle connections`() async throws {
        let rig = ServerRig()
        var options = ServerRig.patient
        options.stopTime = waitLimit
        options.lingerTime = .milliseconds(1)
        let server = HTTPServer(try ControlAddress("127.0.0.1:0"), options: options) { request in
            rig.requests.put("")
            _ = try? await rig.gate.take()
            return .text("done")
        }
        let address = try await server.start()
        let idle = try RawConnection(address)
        let busy = try RawConnection(address)
        try await busy.send(address.head("GET /"))
        _ = try await rig.requests.take()
        async let end: Void = server.stop()
        #expect(try await idle.hasEnded())
        rig.gate.put(())
        #expect(try await busy.readResponse().body == "done")
        #expect(try await busy.hasEnded())
        await end
        #expect(throws: FileTrouble.self) { try RawConnection(address) }
    }

    @Test func `the server's end does not wait for a request for ever`() async throws {
        let rig = ServerRig()
        var options = ServerRig.patient
        options.stopTime = .milliseconds(1)
        let server = HTTPServer(try ControlAddress("127.0.0.1:0"), options: options) { request in
            rig.requests.put("")
            let hang: Void? = try? await waiting(for: "the end of the request") { _ in }
            rig.ends.put(hang == nil)
            return .text("")
        }
        let address = try await server.start()
        let client = try RawConnection(address)
        try await client.send(address.head("GET /"))
        _ = try await rig.requests.take()
        await server.stop()
        #expect(try await rig.ends.take() == [true])
        #expect(try await client.hasEnded())
        await server.stop()
    }
}
