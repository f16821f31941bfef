import Testing

@testable import MynahControl

@Suite struct HTTPConnectionMachineTests {
    private typealias Machine = HTTPConnectionMachine

    /// An action in words.
    private func words(_ actions: [Machine.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .arm(let timer): timer.map { "arm \($0)" } ?? "disarm"
            case .sendContinue: "continue"
            case .answer(let request, let decided, _, let keepsAlive):
                "answer \(request.path.joined(separator: "/")) \(request.body.count)"
                    + (decided.map { " with \($0.status)" } ?? "") + (keepsAlive ? "" : " and close")
            case .refuse(let problem): "refuse \(problem.status)"
            case .finish: "finish"
            case .close: "close"
            }
        }
    }

    private func machine() -> Machine {
        Machine(rules: HTTPRules(bodyLimit: 10, token: nil, local: nil), headLimit: 100) { request in
            request.path == ["missing"] ? HTTPResponse(ControlProblem(404, "no")) : nil
        }
    }

    private func head(_ target: String, _ fields: HTTPField..., method: String = "GET") -> Machine.Input {
        .head(
            HTTPHead(
                method: method, target: target, minorVersion: 1,
                headers: [HTTPField("host", "localhost"), HTTPField("content-type", "application/json")]
                    + fields))
    }

    @Test func `a request goes through its time limits, and the next one follows`() {
        var machine = machine()
        #expect(words(machine.opened()) == ["arm idle"])
        #expect(words(machine.received(5)) == ["arm head"])
        #expect(words(machine.received(5)) == [])
        #expect(
            words(machine.handle(head("/a", .init("content-length", "3"), method: "PUT"))) == ["arm body"])
        #expect(words(machine.handle(.body([1, 2]))) == [])
        #expect(words(machine.handle(.body([3]))) == [])
        #expect(!machine.holdsReads)
        #expect(words(machine.handle(.end)) == ["disarm", "answer a 3"])
        #expect(machine.holdsReads)
        #expect(words(machine.answered()) == ["arm idle"])
        #expect(!machine.holdsReads)
    }

    @Test func `a request that comes while another is answered waits for the response`() {
        var machine = machine()
        _ = machine.handle(head("/a"))
        _ = machine.handle(.end)
        for input in [
            head("/missing"), .end, head("/b", .init("connection", "close")), .end, head("/c"), .end,
        ] {
            #expect(words(machine.handle(input)) == [])
        }
        #expect(words(machine.answered()) == ["arm idle", "arm body", "disarm", "answer missing 0 with 404"])
        #expect(machine.holdsReads)
        #expect(words(machine.answered()) == ["arm idle", "arm body", "disarm", "answer b 0 and close"])
        #expect(words(machine.answered()) == ["arm linger", "finish"])
        #expect(machine.discards)
        #expect(words(machine.handle(head("/d"))) == [])
        #expect(words(machine.timeIsUp()) == ["disarm", "close"])
    }

    @Test func `each time limit has its end`() {
        var idle = machine()
        #expect(words(idle.timeIsUp()) == ["disarm", "close"])
        var inHead = machine()
        _ = inHead.received(1)
        #expect(words(inHead.timeIsUp()) == ["arm linger", "refuse 408", "finish"])
        var inBody = machine()
        _ = inBody.handle(head("/a"))
        #expect(words(inBody.timeIsUp()) == ["arm linger", "refuse 408", "finish"])
        var answering = machine()
        _ = answering.handle(head("/a"))
        _ = answering.handle(.end)
        #expect(words(answering.timeIsUp()) == [])
    }

    @Test func `bytes that complete nothing are limited`() {
        var machine = machine()
        _ = machine.received(100)
        #expect(words(machine.parsed()) == [])
        _ = machine.received(1)
        #expect(words(machine.parsed()) == ["arm linger", "refuse 431", "finish"])
        #expect(words(machine.parsed()) == [])
    }

    @Test func `bytes that complete nothing are limited within a body too`() {
        var machine = machine()
        _ = machine.received(90)
        _ = machine.handle(head("/a", .init("transfer-encoding", "chunked"), method: "PUT"))
        _ = machine.received(90)
        _ = machine.handle(.body([1]))
        _ = machine.received(90)
        #expect(words(machine.parsed()) == [])
        _ = machine.received(90)
        #expect(words(machine.parsed()) == ["arm linger", "refuse 400", "finish"])
    }

    @Test func `a body over the limit is refused, also if nobody would read it`() {
        for path in ["/a", "/missing"] {
            var machine = machine()
            _ = machine.handle(head(path, .init("transfer-encoding", "chunked"), method: "PUT"))
            _ = machine.handle(.body([UInt8](repeating: 0, count: 10)))
            #expect(words(machine.handle(.body([0]))) == ["arm linger", "refuse 413", "finish"])
        }
    }

    @Test func `permission to send a body is given once the head is accepted`() {
        let expects = HTTPField("expect", "100-Continue")
        var machine = machine()
        #expect(
            words(machine.handle(head("/a", expects, .init("content-length", "3"), method: "PUT")))
                == ["arm body", "continue"])
        var without = self.machine()
        #expect(words(without.handle(head("/a", expects))) == ["arm body"])
        var tooLong = self.machine()
        #expect(
            words(tooLong.handle(head("/a", expects, .init("content-length", "11"), method: "PUT")))
                == ["arm linger", "refuse 413", "finish"])
    }

    @Test func `the server's end closes what is idle and lets the rest finish`() {
        var idle = machine()
        #expect(words(idle.quiesce()) == ["disarm", "close"])
        var inBody = machine()
        _ = inBody.handle(head("/a"))
        #expect(words(inBody.quiesce()) == [])
        #expect(words(inBody.handle(.end)) == ["disarm", "answer a 0 and close"])
        var answering = machine()
        _ = answering.handle(head("/a"))
        _ = answering.handle(.end)
        _ = answering.handle(head("/b"))
        #expect(words(answering.quiesce()) == [])
        #expect(words(answering.answered()) == ["arm linger", "finish"])
    }

    @Test func `inputs in a wrong order close the connection and do not crash`() {
        for input in [Machine.Input.body([1]), .end] {
            var machine = machine()
            #expect(words(machine.handle(input)) == ["disarm", "close"])
        }
        var machine = machine()
        _ = machine.handle(head("/a"))
        #expect(words(machine.handle(head("/b"))) == ["disarm", "close"])
    }

    @Test func `the requests that are kept for later are limited`() {
        var machine = machine()
        _ = machine.handle(head("/a"))
        _ = machine.handle(.end)
        var count = 0
        while count < 100_000, words(machine.handle(.end)) == [] { count += 1 }
        #expect(count == 16_384)
        #expect(machine.discards)
    }

    @Test func `nothing happens after the end`() {
        var machine = machine()
        _ = machine.handle(head("/a"))
        #expect(words(machine.closed()) == ["disarm"])
        #expect(words(machine.answered()) == [])
        #expect(words(machine.handle(.end)) == [])
        #expect(words(machine.timeIsUp()) == [])
        #expect(words(machine.quiesce()) == [])
    }
}
