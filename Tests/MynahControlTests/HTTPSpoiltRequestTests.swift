import MynahControl
import MynahTestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct HTTPSpoiltRequestTests {
    private static let json = "Content-Type: application/json"

    private static let tokens = [
        "\r", "\n", "\r\n", " ", "\t", ":", "0", ";", ",", "\u{0}", "é", "\r\n\r\n", "HTTP/1.1",
        "Upgrade: a\r\n",
        "Content-Length: 1\r\n", "Transfer-Encoding: chunked\r\n", "Expect: 100-continue\r\n",
        "Connection: close\r\n", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ]

    /// Requests that are right but for a few bytes.
    private func spoilt(_ seeds: [String], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = (0..<2).flatMap { _ in Array((seeds.randomElement(using: &random) ?? "").utf8) }
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 1 where bytes.count > 1: bytes.remove(at: index)
            case 2:
                bytes.insert(
                    contentsOf: Array((Self.tokens.randomElement(using: &random) ?? "").utf8), at: index)
            default: bytes.removeSubrange(max(1, index)...)
            }
        }
        return bytes
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `spoilt requests neither crash nor hang the server`(seed: UInt64) async throws {
        var options = HTTPServer.Options()
        (options.headTime, options.bodyTime) = (.milliseconds(5), .milliseconds(5))
        (options.idleTime, options.lingerTime) = (.milliseconds(5), .milliseconds(5))
        try await ServerRig.run("127.0.0.1:0", options) { address, _ in
            var random = SeededGenerator(seed: seed)
            let seeds = [
                address.head("GET /a?b=c"), address.head("PUT /a", Self.json, "Content-Length: 2") + "{}",
                address.head("POST /a", Self.json, "Transfer-Encoding: chunked")
                    + "2;a=b\r\n{}\r\n0\r\nX: y\r\n\r\n",
                address.head("GET /a", "Connection: Upgrade", "Upgrade: x"), address.head("CONNECT a:1"),
                "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET /a HTTP/1.0\r\n\r\n", "SOURCE /x ICE/1.0\r\n\r\n",
                "OPTIONS * RTSP/1.0\r\n\r\n",
            ]
            for number in 0..<300 {
                let client = try RawConnection(address)
                let bytes = spoilt(seeds, &random)
                let cut = Int.random(in: 0...bytes.count, using: &random)
                try await client.send(Array(bytes[..<cut]))
                try await client.send(Array(bytes[cut...]))
                if number % 3 == 0 { client.finish() }
                if number % 5 != 0 { _ = try await client.readToEnd() }
            }
            // Its own time limits are short enough to end this request too, on a busy machine.
            var answer = ""
            try await until("the server answers") {
                let client = try RawConnection(address)
                try await client.send(address.head("GET /a", "Connection: close"))
                answer = try await client.readToEnd()
                return answer.hasPrefix("HTTP/1.1 200 ")
            }
            #expect(answer.hasSuffix("GET /a "))
        }
    }
}
