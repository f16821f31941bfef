import MynahSupport
import NIOCore
import NIOHTTP1
import NIOPosix

/// An HTTP/1.1 server for the control API, on a TCP port or a Unix socket.
///
/// Before a handler gets a request, the server has refused requests that are too long or too slow, and those
/// from web pages of another origin. A client that closes its sending side counts as gone: the task that
/// answers it is cancelled.
package final class HTTPServer: Sendable {
    /// Answers a request; it is cancelled when the client is gone.
    package typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse
    /// Decides from a request without its body, on the event loop: returns the response of one that will
    /// fail anyway, for example 404 or 405, or `nil`.
    package typealias Precheck = @Sendable (HTTPRequest) -> HTTPResponse?

    /// Limits and access.
    package struct Options: Sendable {
        /// The longest request line with all headers, in bytes.
        package var headLimit = 16 << 10
        /// The longest body, in bytes.
        package var bodyLimit = 1 << 20
        /// How many connections are served at once; further ones get 503 and are closed.
        package var connectionLimit = 64
        /// How many descriptors connections leave to the rest of the program.
        package var descriptorReserve: UInt64 = 16
        /// How long a head may take from its first byte on.
        package var headTime: Duration = .seconds(5)
        /// How long a body may take from the end of the head on.
        package var bodyTime: Duration = .seconds(60)
        /// How long a connection may be without a request, and how long a client may take nothing of a
        /// response.
        package var idleTime: Duration = .seconds(60)
        /// How long a client may leave a connection open after its last response.
        package var lingerTime: Duration = .seconds(2)
        /// How long to wait after the system refused to accept a connection, for example without a free
        /// descriptor.
        package var acceptPause: Duration = .seconds(1)
        /// How long `stop` lets requests finish.
        package var stopTime: Duration = .seconds(1)
        /// The token that requests over TCP need, or `nil` if they need none.
        package var token: String?

        /// The limits of the control API, and no token.
        package init() {}
    }

    private enum State {
        case new
        case starting
        case listening(any Channel, ListeningSocket)
        case ended
    }

    /// One thread for all servers and clients of the process.
    ///
    /// The group is never shut down: it would have to outlive every task that answers a request.
    static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private let address: ControlAddress
    private let options: Options
    private let precheck: Precheck
    private let handler: Handler
    private let state = Lock(State.new)
    private let connections = Lock<[ObjectIdentifier: any Channel]>([:])

    /// A server that does not listen yet.
    package init(
        _ address: ControlAddress, options: Options = Options(), precheck: @escaping Precheck = { _ in nil },
        handler: @escaping Handler
    ) {
        self.address = address
        self.options = options
        self.precheck = precheck
        self.handler = handler
    }

    /// Listens, and returns the address with its port.
    ///
    /// A Unix socket gets mode 0600. One that an ended process left is replaced. Call it once.
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

    /// Stops listening, lets the requests that are being answered finish, but not for long, and closes all
    /// connections.
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
            // A request is small, and what one read brings may have to wait until another is answered.
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

    /// How many descriptors the process may still open before a client comes.
    ///
    /// libdispatch has a timer for each of its three clocks, and opens it when the clock is first used. On a
    /// busy machine that is after the check, and each client would then be refused.
    private static let laterDescriptors: UInt64 = 2

    /// The reason for which no connection would be served now, as a sentence without its full stop, or `nil`
    /// if one would.
    package var lackOfFiles: String? {
        OpenFiles.problem(
            of: "a client of the control API", leaving: options.descriptorReserve + Self.laterDescriptors)
    }

    /// Why a connection is not served, or `nil` if it is, and then it is counted.
    private func refusal(of channel: any Channel) -> String? {
        guard leavesDescriptors(channel) else {
            return "this server may not open more files, of which a connection is one; \(OpenFiles.remedy)"
        }
        return admit(channel) ? nil : "all connections of this server are in use; close one, or try again"
    }

    /// Whether enough descriptors are free beside a connection's.
    ///
    /// libdispatch ends a process that has none: once a second it opens a file for each of its threads. A new
    /// descriptor is the lowest free number, so that a high one means that few are left.
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

/// Stops accepting for a while after the system refused a connection, for example without a free descriptor.
///
/// NIO's `AcceptBackoffHandler` does not: the channel stays registered for reads after an error, and the
/// connection that still waits wakes the event loop again at once, for ever.
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
            // The server may have stopped meanwhile.
            try? channel.syncOptions?.setOption(.autoRead, value: true)
        }
    }
}

/// Refuses a connection for which there is no room, and closes it when its client has gone.
///
/// The request is read and dropped: a socket that is closed with unread bytes is reset, and then the client
/// never sees the response.
private final class HTTPOverload: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// How much of a request is read before the connection is closed all the same.
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
