import MynahSupport
import NIOCore
import NIOHTTP1
import NIOPosix

/// An HTTP/1.1 server for the control API, on a TCP port or a Unix socket.
///
/// Requests that are too long or too slow, and those from web pages of another origin, are refused before
/// they reach the handler. A client that closes its sending side is treated as disconnected: the task that
/// answers its request is cancelled.
package final class HTTPServer: Sendable {
    /// Answers a request; its task is cancelled when the client disconnects.
    package typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse
    /// Returns the response to a request that fails regardless of its body, such as 404 or 405, or `nil`.
    ///
    /// Called on the event loop with an empty body.
    package typealias Precheck = @Sendable (HTTPRequest) -> HTTPResponse?

    /// Limits, time limits and the token of a server.
    package struct Options: Sendable {
        /// The largest size of the request line with all headers, in bytes.
        package var headLimit = 16 << 10
        /// The largest size of a body, in bytes.
        package var bodyLimit = 1 << 20
        /// The maximum number of simultaneous connections; further ones get 503 and are closed.
        package var connectionLimit = 64
        /// The number of file descriptors that must remain for the rest of the program.
        package var descriptorReserve: UInt64 = 16
        /// The time limit for a head, counted from its first byte.
        package var headTime: Duration = .seconds(5)
        /// The time limit for a body, counted from the end of the head.
        package var bodyTime: Duration = .seconds(60)
        /// The time limit for an idle connection, and for a client that does not read a response.
        package var idleTime: Duration = .seconds(60)
        /// The time limit for a client to close the connection after its last response.
        package var lingerTime: Duration = .seconds(2)
        /// The pause after the system refused to accept a connection, for example because of too few file
        /// descriptors.
        package var acceptPause: Duration = .seconds(1)
        /// The time for which `stop` waits for requests to finish.
        package var stopTime: Duration = .seconds(1)
        /// The token that requests over TCP must have, or `nil` if they need none.
        package var token: String?

        /// Makes the default options of the control API, without a token.
        package init() {}
    }

    private enum State {
        case new
        case starting
        case listening(any Channel, ListeningSocket)
        case ended
    }

    /// The event loop of all servers and clients in the process.
    ///
    /// The group is never shut down, because it would have to outlive every task that answers a request.
    static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private let address: ControlAddress
    private let options: Options
    private let precheck: Precheck
    private let handler: Handler
    private let state = Lock(State.new)
    private let connections = Lock<[ObjectIdentifier: any Channel]>([:])

    /// Makes a server that does not listen yet.
    package init(
        _ address: ControlAddress, options: Options = Options(), precheck: @escaping Precheck = { _ in nil },
        handler: @escaping Handler
    ) {
        self.address = address
        self.options = options
        self.precheck = precheck
        self.handler = handler
    }

    /// Starts to listen, and returns the address with the actual port.
    ///
    /// A Unix socket gets mode 0600, and replaces the socket of a process that has ended. Can be called only
    /// once.
    package func start() async throws(ControlError) -> ControlAddress {
        guard address.isLocal || options.token != nil else {
            throw ControlError(
                .tokenRequired, "other machines reach \(address)",
                remedy: "give a token with --control-token-file, or choose 127.0.0.1")
        }
        let isFirst = state.withLock { state in
            guard case .new = state else { return false }
            state = .starting
            return true
        }
        guard isFirst else { throw ControlError(.unavailable, "this server was started before") }
        let socket = try await ListeningSocket(address)
        do {
            let bound = address.bound(by: socket)
            let channel = try await bootstrap(bound).withBoundSocket(socket.descriptor).get()
            state.withLock { $0 = .listening(channel, socket) }
            return bound
        } catch {
            socket.removePath()
            throw ControlError(.unavailable, "cannot listen on \(address): \(error)")
        }
    }

    /// Stops listening, waits a short time for requests to finish, and closes all connections.
    package func stop() async {
        let running: (any Channel, ListeningSocket)? = state.withLock { state in
            defer { state = .ended }
            guard case .listening(let channel, let socket) = state else { return nil }
            return (channel, socket)
        }
        guard let (channel, socket) = running else { return }
        socket.removePath()
        try? await channel.close().get()
        let open = connections.withLock { Array($0.values) }
        for connection in open {
            connection.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
        let end = channel.eventLoop.scheduleTask(in: TimeAmount(options.stopTime)) {
            for connection in open { connection.close(promise: nil) }
        }
        for connection in open { try? await connection.closeFuture.get() }
        end.cancel()
    }

    // MARK: - Connections

    private func bootstrap(_ bound: ControlAddress) -> ServerBootstrap {
        let pause = TimeAmount(options.acceptPause)
        return ServerBootstrap(group: Self.loops)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(HTTPAcceptPause(pause))
                }
            }
            // Requests are small, and the parts of one read may have to wait for the response to an earlier
            // request.
            .childChannelOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: 16_384)
            )
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try self.prepare(channel, bound) }
            }
    }

    private func prepare(_ channel: any Channel, _ bound: ControlAddress) throws {
        if let reason = refusal(of: channel) {
            let overload = HTTPOverload(reason, linger: TimeAmount(options.lingerTime))
            return try channel.pipeline.syncOperations.addHandler(overload)
        }
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = options.headLimit
        limits.maxHeaderListSize = options.headLimit
        let local: HTTPRules.LocalAddress? =
            switch bound {
            case .tcp(let host, let port): HTTPRules.LocalAddress(host: host, port: port)
            case .unix: nil
            }
        let rules = HTTPRules(bodyLimit: options.bodyLimit, token: options.token, local: local)
        let connection = HTTPConnectionHandler(
            options: options,
            machine: HTTPConnectionMachine(rules: rules, headLimit: options.headLimit, precheck: precheck),
            answer: handler)
        try channel.pipeline.syncOperations.addHandlers([
            HTTPResponseEncoder(), HTTPByteCounter(connection),
            ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: limits)), connection,
        ])
    }

    /// The number of file descriptors that libdispatch may open after the check in `lackOfFiles`.
    ///
    /// libdispatch has a timer for each of its three clocks, and opens it when the clock is first used. On a
    /// busy machine this happens after the check, and then every client would be refused.
    private static let laterDescriptors: UInt64 = 2

    /// The reason that connections cannot be served now, or `nil` if they can.
    ///
    /// The reason is a sentence without its full stop.
    package var lackOfFiles: String? {
        OpenFiles.problem(
            of: "a client of the control API", leaving: options.descriptorReserve + Self.laterDescriptors)
    }

    /// Counts a connection and returns `nil`, or returns the reason that the server does not serve it.
    private func refusal(of channel: any Channel) -> String? {
        guard leavesDescriptors(channel) else {
            return "this server may not open more files, of which a connection is one; \(OpenFiles.remedy)"
        }
        return admit(channel) ? nil : "all connections of this server are in use; close one, or try again"
    }

    /// Whether enough file descriptors are left after a connection was accepted.
    ///
    /// Without a free file descriptor, libdispatch crashes the process: once a second, it opens a file for
    /// each of its threads. A new descriptor has the lowest free number, so a high number means that few are
    /// left.
    private func leavesDescriptors(_ channel: any Channel) -> Bool {
        let number = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { $0 }
        return number.map { OpenFiles.leaves(options.descriptorReserve, beside: $0) } ?? true
    }

    /// Counts a connection until it is closed; returns `false` if there are too many.
    private func admit(_ channel: any Channel) -> Bool {
        let key = ObjectIdentifier(channel)
        let isAdmitted = connections.withLock { connections in
            guard connections.count < options.connectionLimit else { return false }
            connections[key] = channel
            return true
        }
        if isAdmitted {
            channel.closeFuture.whenComplete { _ in self.connections.withLock { $0[key] = nil } }
        }
        return isAdmitted
    }
}

/// Stops accepting connections for a while after the system refused one.
///
/// The cause is, for example, too few file descriptors. NIO's `AcceptBackoffHandler` does not help: after an
/// error, the channel stays registered for reads, and the waiting connection wakes the event loop
/// repeatedly.
private final class HTTPAcceptPause: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private let time: TimeAmount

    init(_ time: TimeAmount) {
        self.time = time
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let channel = context.channel
        try? channel.syncOptions?.setOption(.autoRead, value: false)
        context.eventLoop.scheduleTask(in: time) {
            // The server may have stopped in the meantime.
            try? channel.syncOptions?.setOption(.autoRead, value: true)
        }
    }
}

/// Refuses a connection beyond the limits, and closes it after the client has closed its side.
///
/// The request is read and discarded: closing a socket with unread bytes resets the connection, and the
/// client would not receive the response.
private final class HTTPOverload: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The number of received bytes after which the connection is closed in any case.
    private static let mostRead = 64 << 10

    private let reason: String
    private let linger: TimeAmount
    private var rest = HTTPOverload.mostRead

    init(_ reason: String, linger: TimeAmount) {
        self.reason = reason
        self.linger = linger
    }

    func channelActive(context: ChannelHandlerContext) {
        var body: [UInt8] = []
        ControlProblem(503, reason).json.write(to: &body)
        let head = """
            HTTP/1.1 503 Service Unavailable\r
            content-type: application/problem+json\r
            content-length: \(body.count)\r
            connection: close\r
            \r

            """
        context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(bytes: Array(head.utf8) + body)), promise: nil)
        context.close(mode: .output, promise: nil)
        let bound = context.loopBound
        let end = context.eventLoop.scheduleTask(in: linger) { bound.value.close(promise: nil) }
        context.channel.closeFuture.whenComplete { _ in end.cancel() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        rest -= Self.unwrapInboundIn(data).readableBytes
        if rest < 0 { context.close(promise: nil) }
    }
}
