import Glibc
import MynahSupport
import NIOCore
import NIOHTTP1
import NIOPosix

/// A client of the control API that opens a connection for each request.
package struct ControlClient: Sendable {
    /// A response with its whole body.
    package struct Response: Hashable, Sendable {
        /// The status code.
        package var status: Int
        /// The header fields.
        package var headers: [HTTPField]
        /// The whole body.
        package var body: [UInt8]
    }

    package struct Request: Hashable, Sendable {
        /// The method, in upper case.
        package var method: String
        /// The path and query, percent-encoded.
        package var target: String
        /// The additional header fields.
        package var headers: [HTTPField]
        /// The body, which is a JSON document, or `nil` if there is none.
        package var body: [UInt8]?

        package init(_ method: String, _ target: String, headers: [HTTPField] = [], body: [UInt8]? = nil) {
            self.method = method
            self.target = target
            self.headers = headers
            self.body = body
        }
    }

    private typealias Connection = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

    /// The maximum length of a response's body, in bytes; the test report of a full journal has half of it.
    private static let bodyLimit = 64 << 20
    /// The time without data after which a stream of events fails; a server sends a comment every 15 s.
    private static let streamLimit = Duration.seconds(60)

    /// The address of the server.
    package let address: ControlAddress
    private let token: String?

    /// Makes a client of the server at an address.
    package init(_ address: ControlAddress, token: String? = nil) {
        self.address = address
        self.token = token
    }

    /// Percent-encodes a path segment, or a name or value in a query.
    package static func encode(_ text: String) -> String {
        String(
            decoding: text.utf8.flatMap { byte -> [UInt8] in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: [byte]
                default: Array(("%" + Hex.encode([byte])).utf8)
                }
            }, as: UTF8.self)
    }

    /// Sends a request to an instance of Mynah, and returns the response.
    ///
    /// Throws `protocolViolation` if another program has answered. `limit` is the time limit for the whole
    /// exchange.
    package func send(
        _ request: Request, limit: Duration = .seconds(30)
    ) async throws(ControlError) -> Response {
        var collector = Collector()
        let response = try await exchange(request, limit: limit) { part in try collector.add(part) }
        if let fault = AnswerCheck.fault(of: response, to: request) { throw foreign(fault, request) }
        return response
    }

    private func foreign(_ fault: String, _ request: Request) -> ControlError {
        let path = String(request.target.prefix { $0 != "?" })
        return ControlError(
            .protocolViolation,
            "\(address) is no instance of mynah: it answered \(request.method) \(path) \(fault)",
            remedy: "give the address of mynah serve, or of mynah run --control, with --control")
    }

    /// Reads a stream of server-sent events, and calls `each` for every event.
    ///
    /// Reading ends when `each` returns `false`, or with the stream. Returns `nil`, or the response if it is
    /// not a stream of events.
    package func events(
        _ target: String, after id: String? = nil, _ each: (ServerSentEvent) async -> Bool
    ) async throws(ControlError) -> Response? {
        var headers = [HTTPField("Accept", "text/event-stream")]
        if let id { headers.append(HTTPField("Last-Event-ID", id)) }
        var other = Collector()
        var parser: ServerSentEventParser?
        let request = Request("GET", target, headers: headers)
        let response = try await exchange(request, limit: Self.streamLimit, isStream: true) {
            part -> Response?? in
            if case .head(let head) = part, head.status == .ok,
                head.headers.first(name: "content-type") == "text/event-stream"
            {
                parser = ServerSentEventParser()
            }
            guard parser != nil else { return try other.add(part).map { .some($0) } }
            switch part {
            case .head: return nil
            case .body(let buffer):
                for event in try parser?.decode(buffer.readableBytesView) ?? [] {
                    guard await each(event) else { return .some(nil) }
                }
                return nil
            case .end: return .some(nil)
            }
        }
        if let response, response.status < 400 {
            let type = response.headers.first { $0.name.lowercased() == "content-type" }?.value ?? "no type"
            throw foreign("with status \(response.status) and \(type), not with a stream of events", request)
        }
        return response
    }

    /// Assembles a response from its parts.
    private struct Collector {
        private var response = Response(status: 0, headers: [], body: [])

        /// Adds the next part; returns the response after the last part, and `nil` before.
        mutating func add(_ part: HTTPClientResponsePart) throws(ControlError) -> Response? {
            switch part {
            case .head(let head):
                response.status = Int(head.status.code)
                response.headers = head.headers.map { HTTPField($0.name, $0.value) }
            case .body(let buffer):
                guard response.body.count + buffer.readableBytes <= bodyLimit else {
                    throw ControlError(.protocolViolation, "the response is longer than \(bodyLimit) bytes")
                }
                response.body += buffer.readableBytesView
            case .end: return response
            }
            return nil
        }
    }

    // MARK: - One exchange

    private static let cut = ControlError(
        .disconnected, "the connection ended before the response was complete")

    /// Sends a request, and calls `take` with each part of the response, until it returns a result.
    ///
    /// `limit` is the time limit for the whole response or, with `isStream`, for each part.
    private func exchange<Result: Sendable>(
        _ request: Request, limit: Duration, isStream: Bool = false,
        _ take: (HTTPClientResponsePart) async throws -> Result?
    ) async throws(ControlError) -> Result {
        let isLate = Lock(false)
        do {
            let connection = try await connect()
            func setAlarm() -> Scheduled<Void> {
                connection.channel.eventLoop.scheduleTask(in: TimeAmount(limit)) {
                    isLate.withLock { $0 = true }
                    connection.channel.close(promise: nil)
                }
            }
            var alarm = setAlarm()
            defer { alarm.cancel() }
            return try await connection.executeThenClose { inbound, outbound in
                try await outbound.write(contentsOf: parts(of: request))
                for try await part in inbound {
                    if isStream {
                        alarm.cancel()
                        alarm = setAlarm()
                    }
                    if let result = try await take(part) { return result }
                }
                throw Self.cut
            }
        } catch {
            if isLate.withLock({ $0 }) {
                throw ControlError(.timedOut, "\(address) did not answer in time")
            }
            throw problem(of: error)
        }
    }

    private func parts(of request: Request) -> [HTTPClientRequestPart] {
        var headers = HTTPHeaders([("host", address.authority), ("connection", "close")])
        for field in request.headers { headers.add(name: field.name, value: field.value) }
        if let token, !address.isUnixSocket { headers.add(name: "authorization", value: "Bearer \(token)") }
        let needsLength = ["POST", "PUT", "PATCH"].contains(request.method) || request.body != nil
        if needsLength {
            headers.add(name: "content-length", value: "\(request.body?.count ?? 0)")
            headers.add(name: "content-type", value: "application/json")
        }
        let head = HTTPRequestHead(
            version: .http1_1, method: HTTPMethod(rawValue: request.method), uri: request.target,
            headers: headers)
        guard let body = request.body else { return [.head(head), .end(nil)] }
        return [.head(head), .body(.byteBuffer(ByteBuffer(bytes: body))), .end(nil)]
    }

    private func connect() async throws -> Connection {
        let target =
            switch address {
            case .tcp(let host, let port): try NIOCore.SocketAddress(ipAddress: host.text, port: Int(port))
            case .unix(let path): try NIOCore.SocketAddress(unixDomainSocketPath: path)
            }
        return try await ClientBootstrap(group: HTTPServer.loops).connectTimeout(.seconds(10))
            // A server that answers early may close its sending side before the request is written.
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(to: target) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(EarlyAnswer())
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
    }

    private func problem(of error: any Error) -> ControlError {
        switch error {
        case let error as ControlError: return error
        case is ServerSentEventParser.TooLong:
            return ControlError(.protocolViolation, "an event of \(address) is too long")
        case let error as IOError where [ECONNREFUSED, ENOENT].contains(error.errnoCode):
            return ControlError(
                .unreachable, "nobody listens on \(address)",
                remedy: "start mynah serve, or mynah run --control")
        case let error as IOError where [EACCES, EPERM].contains(error.errnoCode):
            return ControlError(
                .notPermitted, "this user may not use \(address)", remedy: "run this as its user")
        // The server's process was killed in the middle of a response.
        case HTTPParserError.invalidEOFState: return Self.cut
        case is HTTPParserError, is NIOHTTPDecoderError:
            return ControlError(.protocolViolation, "what \(address) answered is not HTTP")
        case is CancellationError: return ControlError(.disconnected, "the request was cancelled")
        case is IOError, is ChannelError: return Self.cut
        default: return ControlError(.disconnected, "\(address): \(error)")
        }
    }
}
