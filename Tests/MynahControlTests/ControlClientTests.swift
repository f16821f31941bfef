import Glibc
import MynahControl
import MynahSupport
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct ControlClientTests {
    private func expectError(
        _ code: ControlError.Code, location: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async {
        let error = await #expect(throws: ControlError.self, sourceLocation: location) { try await body() }
        #expect(error?.code == code, sourceLocation: location)
    }

    @Test(arguments: ["127.0.0.1:0", "[::1]:0", "unix:"])
    func `a request is answered over each kind of address`(address: String) async throws {
        let directory = try TemporaryDirectory()
        try await ServerRig.run(address == "unix:" ? "unix:\(directory.path)/s" : address) { address, _ in
            let client = ControlClient(address)
            let got = try await client.send(.init("GET", "/a%20b"))
            #expect(got.status == 200)
            #expect(String(decoding: got.body, as: UTF8.self) == "GET /a b ")
            #expect(got.headers["Content-Type"] == "text/plain; charset=utf-8")
            let put = try await client.send(.init("PUT", "/v", body: Array("{}".utf8)))
            #expect(String(decoding: put.body, as: UTF8.self) == "PUT /v {}")
            #expect(try await client.send(.init("POST", "/reset")).status == 200)
            #expect(try await client.send(.init("DELETE", "/v")).status == 200)
            let large = try await client.send(.init("GET", "/large"))
            #expect(large.body.count == 1 << 20)
            let problem = try await client.send(.init("GET", "/missing"))
            #expect(problem.status == 404)
            #expect(try JSON(parsing: problem.body)["detail"] == .string("there is no such path"))
        }
    }

    @Test(arguments: ["127.0.0.1:0", "unix:"])
    func `a server whose connections are all in use is told as it says it`(address: String) async throws {
        let directory = try TemporaryDirectory()
        var options = ServerRig.patient
        options.connectionLimit = 0
        let place = address == "unix:" ? "unix:\(directory.path)/s" : address
        try await ServerRig.run(place, options) { address, _ in
            // It answers when it has accepted a connection, which may be before the request is written.
            for _ in 0..<100 {
                let problem = try await ControlClient(address).send(.init("GET", "/a"))
                #expect(problem.status == 503)
            }
        }
    }

    @Test func `a body that is too long gets its answer although it was not read`() async throws {
        try await ServerRig.run { address, _ in
            let body = [UInt8](repeating: 0x20, count: 4 << 20)
            let response = try await ControlClient(address).send(.init("PUT", "/a", body: body))
            #expect(response.status == 413)
        }
    }

    @Test func `events come one by one until the reader has enough`() async throws {
        try await ServerRig.run { address, rig in
            var events: [ServerSentEvent] = []
            let response = try await ControlClient(address).events("/stream") { event in
                events.append(event)
                return events.count < 3
            }
            #expect(response == nil)
            #expect(events.map(\.data) == ["event 0", "event 1", "event 2"])
            #expect(events.map(\.id) == ["0", "1", "2"])
            #expect(try await rig.ends.take() == [true])
        }
    }

    @Test func `events end with the stream, and another response is returned`() async throws {
        try await ServerRig.run { address, rig in
            rig.gate.put(())
            var count = 0
            let response = try await ControlClient(address).events("/stream", after: "7-1") { _ in
                count += 1
                return true
            }
            #expect(response == nil)
            #expect(count == 3)
            #expect(try await ControlClient(address).events("/missing") { _ in true }?.status == 404)
        }
    }

    @Test func `a server that is not there is an error that says so`() async throws {
        let directory = try TemporaryDirectory()
        let server = HTTPServer(try ControlAddress("127.0.0.1:0")) { _ in .text("") }
        let address = try await server.start()
        await server.stop()
        await expectError(.unreachable) {
            _ = try await ControlClient(address).send(.init("GET", "/"))
        }
        await expectError(.unreachable) {
            let address = try ControlAddress("unix:\(directory.path)/s")
            _ = try await ControlClient(address).send(.init("GET", "/"))
        }
    }

    @Test func `a server that does not answer in time is an error`() async throws {
        try await ServerRig.run { address, rig in
            await expectError(.timedOut) {
                _ = try await ControlClient(address).send(.init("GET", "/hang"), limit: .milliseconds(20))
            }
            #expect(rig.requestCount <= 1)
        }
    }

    @Test func `a request that is cancelled ends, here and there`() async throws {
        try await ServerRig.run { address, rig in
            let request = Task { try await ControlClient(address).send(.init("GET", "/hang")) }
            _ = try await rig.requests.take()
            request.cancel()
            let result = await request.result
            #expect(throws: ControlError.self) { try result.get() }
            #expect(try await rig.ends.take() == [true])
        }
    }

    /// A response with a body, as it goes over the socket.
    private static func response(_ status: String, _ type: String, _ body: String) -> String {
        "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test(arguments: [
        (response("200 OK", "text/html", "<html>"), "with the type text/html"),
        (response("200 OK", "application/json", "<html>"), "with what is not JSON"),
        (response("200 OK", "application/json", "null"), "with other JSON ($: null is not an object)"),
        (response("200 OK", "application/json", "{}"), "with other JSON ($: devices is missing)"),
        (
            response("200 OK", "application/json", #"{"devices": 5}"#),
            "with other JSON ($.devices: 5 is not an array)"
        ),
        (
            response("200 OK", "application/json", #"{"devices": [{"device": 1}]}"#),
            "with other JSON ($.devices[0]: "
        ),
        (response("302 Found", "text/plain", ""), "with status 302"),
        (response("201 Created", "application/json", "{}"), "with status 201"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "with no type"),
    ])
    func `an answer that no instance gives is an error that says so`(answer: String, fault: String)
        async throws
    {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/s"
        let socket = try ListeningSocketOfTest(path)
        async let served: Void = socket.answer(answer)
        let error = await #expect(throws: ControlError.self) {
            try await ControlClient(.unix(path: path)).send(.init("GET", "/v1/devices"))
        }
        try await served
        #expect(error?.code == .protocolViolation)
        let start = "unix:\(path) is no instance of mynah: it answered GET /v1/devices \(fault)"
        #expect(error?.message.hasPrefix(start) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [
        ("<html/>", false),
        ("<?xml version=\"1.0\"?>\n<testsuites><testsuite name=\"other\"/></testsuites>", false),
        ("", false), (JUnitReport([]).text, true), (JUnitReport([.init("a", time: .seconds(1))]).text, true),
    ])
    func `a report in XML is an instance's, or an error`(xml: String, isTaken: Bool) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/s"
        let socket = try ListeningSocketOfTest(path)
        async let served: Void = socket.answer(Self.response("200 OK", "application/xml; charset=utf-8", xml))
        let result: Result<ControlClient.Response, any Error>
        do {
            result = .success(
                try await ControlClient(.unix(path: path)).send(.init("GET", "/v1/report?format=junit")))
        } catch {
            result = .failure(error)
        }
        try await served
        switch result {
        case .success(let response): #expect(isTaken && response.body == Array(xml.utf8))
        case .failure(let error):
            #expect(!isTaken)
            #expect("\(error)".contains("no instance of mynah: it answered GET /v1/report with other XML"))
        }
    }

    @Test func `an answer of a later version may have more members`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/s"
        let socket = try ListeningSocketOfTest(path)
        async let served: Void = socket.answer(
            Self.response("200 OK", "application/json", #"{"devices": [], "later": true}"#))
        let response = try await ControlClient(.unix(path: path)).send(.init("GET", "/v1/devices"))
        try await served
        #expect(response.status == 200)
    }

    @Test(arguments: ["302 Found", "200 OK"])
    func `another response than a stream is an error`(status: String) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/s"
        let socket = try ListeningSocketOfTest(path)
        async let served: Void = socket.answer(Self.response(status, "text/html", "<html>"))
        let error = await #expect(throws: ControlError.self) {
            _ = try await ControlClient(.unix(path: path)).events("/v1/events") { _ in true }
        }
        try await served
        #expect(error?.code == .protocolViolation)
    }

    @Test(arguments: [
        "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "HTTP/1.1 200 OK\r\n", "",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe", "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nid:",
    ])
    func `an answer that is not whole or not HTTP is an error`(answer: String) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/s"
        let socket = try ListeningSocketOfTest(path)
        let ends = Mailbox<Bool>("ends")
        let request = Task {
            let client = ControlClient(.unix(path: path))
            do throws(ControlError) {
                _ = try await client.send(.init("GET", "/"))
                ends.put(false)
            } catch {
                ends.put([.disconnected, .protocolViolation].contains(error.code))
            }
        }
        try await socket.answer(answer)
        #expect(try await ends.take() == [true])
        await request.value
    }

    @Test func `a path segment is percent-encoded`() {
        #expect(ControlClient.encode("heart rate/~é@18") == "heart%20rate%2F~%C3%A9%4018")
    }
}

/// A socket that answers one connection with given bytes.
private final class ListeningSocketOfTest: Sendable {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let code = withUnsafePointer(to: &address) { [descriptor] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0, listen(descriptor, 1) == 0 else { throw FileTrouble(path) }
    }

    deinit { close(descriptor) }

    func answer(_ text: String) async throws {
        var accepted: Int32 = -1
        try await until("a client connects") {
            accepted = accept(descriptor, nil, nil)
            return accepted >= 0
        }
        defer { close(accepted) }
        // Bytes that are left unread would reset the connection, and the client might not see the answer.
        var request: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        try await until("the request comes") {
            let count = recv(accepted, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            request += buffer.prefix(max(count, 0))
            return request.suffix(4).elementsEqual("\r\n\r\n".utf8)
        }
        let bytes = Array(text.utf8)
        _ = send(accepted, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}
