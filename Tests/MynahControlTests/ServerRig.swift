import MynahControl
import MynahSupport
import MynahTestSupport

/// A server whose handler tells the test what it sees.
final class ServerRig: Sendable {
    /// The requests that have reached the handler, as `METHOD /path body`.
    let requests = Mailbox<String>("requests")
    /// Whether the task of each request to `/hang` was cancelled, when it ended.
    let ends = Mailbox<Bool>("ends of tasks")
    /// The bytes that each stream has written, when it ended.
    let streams = Mailbox<Int>("ends of streams")
    /// Lets one request to `/gate` go on.
    let gate = Mailbox<Void>("openings of the gate")
    private let count = Lock(0)

    /// How many requests have reached the handler.
    var requestCount: Int { count.withLock { $0 } }

    /// Limits that no busy machine reaches.
    static var patient: HTTPServer.Options {
        var options = HTTPServer.Options()
        options.headTime = waitLimit
        options.bodyTime = waitLimit
        options.idleTime = waitLimit
        options.lingerTime = waitLimit
        return options
    }

    /// Runs a test with a server that listens.
    static func run(
        _ address: String = "127.0.0.1:0", _ options: HTTPServer.Options = patient,
        _ test: (ControlAddress, ServerRig) async throws -> Void
    ) async throws {
        let rig = ServerRig()
        let server = HTTPServer(
            try ControlAddress(address), options: options,
            precheck: {
                $0.path == ["missing"] ? HTTPResponse(ControlProblem(404, "there is no such path")) : nil
            },
            handler: { await rig.answer($0) })
        let bound = try await server.start()
        do {
            try await test(bound, rig)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func answer(_ request: HTTPRequest) async -> HTTPResponse {
        count.withLock { $0 += 1 }
        let path = request.path.joined(separator: "/")
        let body = String(decoding: request.body, as: UTF8.self)
        requests.put("\(request.method) /\(path)\(body.isEmpty ? "" : " " + body)")
        switch path {
        case "gate":
            _ = try? await gate.take()
            return .text("passed")
        case "hang":
            let hang: Void? = try? await waiting(for: "the end of the request") { _ in }
            ends.put(hang == nil && Task.isCancelled)
            return .text("")
        case "stream":
            return .events { writer in
                var number = 0
                while await writer.write(Array("id: \(number)\ndata: event \(number)\n\n".utf8)) {
                    number += 1
                    guard number < 3 else { break }
                }
                // A client that is here reads the end; one that is gone cancels this.
                if number == 3 { _ = try? await self.gate.take() }
                self.ends.put(Task.isCancelled)
            }
        case "flood":
            return .events { writer in
                let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 16_384)
                var written = 0
                while await writer.write(piece) { written += piece.count }
                self.streams.put(written)
            }
        case "large": return .text(String(repeating: "0123456789abcdef", count: 1 << 16))
        case "split":
            let fields = [
                HTTPField("x-kept", "yes"), HTTPField("x-split", "a\r\nx-injected: b"),
                HTTPField("x-name\r\nx-injected", "c"),
            ]
            return HTTPResponse(200, contentType: "text/plain", headers: fields, body: .bytes([]))
        default: return .text("\(request.method) /\(path) \(body)")
        }
    }
}

extension ControlAddress {
    /// The port of a TCP address; 0 of a Unix socket.
    var port: UInt16 {
        switch self {
        case .tcp(_, let port): port
        case .unix: 0
        }
    }

    /// The head of a request with the Host header that the server expects.
    func head(_ line: String, _ fields: String...) -> String {
        let host = port == 0 ? "localhost" : "127.0.0.1:\(port)"
        return (["\(line) HTTP/1.1", "Host: \(host)"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
    }
}
