import MynahSupport
import NIOCore
import NIOHTTP1

/// Runs one connection on the event loop.
///
/// Parsed parts are passed to `HTTPConnectionMachine`, whose actions are carried out.
final class HTTPConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let options: HTTPServer.Options
    private let answer: HTTPServer.Handler
    private var machine: HTTPConnectionMachine
    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?
    private var task: Task<Void, Never>?
    private var holdsRead = false

    init(options: HTTPServer.Options, machine: HTTPConnectionMachine, answer: @escaping HTTPServer.Handler) {
        self.options = options
        self.machine = machine
        self.answer = answer
    }

    // MARK: - Events of the channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        perform(machine.opened())
    }

    func channelActive(context: ChannelHandlerContext) {
        if let host = context.localAddress?.ipAddress.flatMap({ IPAddress($0) }) {
            machine.connected(to: host)
        }
        context.fireChannelActive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let input: HTTPConnectionMachine.Input =
            switch Self.unwrapInboundIn(data) {
            case .head(let head): .head(HTTPHead(head))
            case .body(let buffer): .body(Array(buffer.readableBytesView))
            case .end: .end
            }
        perform(machine.handle(input))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else {
            // The connection failed. The decoder also reports bytes that follow invalid ones.
            if !(error is ByteToMessageDecoderError) { context.close(promise: nil) }
            return
        }
        perform(machine.handle(.malformed(problem(of: error))))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { perform(machine.quiesce()) }
        context.fireUserInboundEventTriggered(event)
    }

    func read(context: ChannelHandlerContext) {
        if machine.holdsReads { holdsRead = true } else { context.read() }
    }

    /// Handles received bytes before they are parsed; returns whether they are to be parsed.
    func received(_ count: Int) -> Bool {
        guard !machine.discards else { return false }
        perform(machine.received(count))
        return true
    }

    /// Informs the machine that all received bytes were parsed.
    func parsed() { perform(machine.parsed()) }

    private func problem(of error: HTTPParserError) -> ControlProblem {
        switch error {
        case .headerOverflow: HTTPConnectionMachine.headTooLong(options.headLimit)
        case .invalidVersion: ControlProblem(505, "this server speaks HTTP/1.1")
        default: ControlProblem(400, "the request is not HTTP/1.1")
        }
    }

    private func end() {
        task?.cancel()
        task = nil
        perform(machine.closed())
        context = nil
    }

    // MARK: - What the machine says

    private func perform(_ actions: [HTTPConnectionMachine.Action]) {
        for action in actions { perform(action) }
        if holdsRead, !machine.holdsReads {
            holdsRead = false
            context?.read()
        }
    }

    private func perform(_ action: HTTPConnectionMachine.Action) {
        switch action {
        case .arm(let next): arm(next)
        case .sendContinue:
            let head = HTTPResponseHead(version: .http1_1, status: .continue)
            context?.writeAndFlush(Self.wrapOutboundOut(.head(head)), promise: nil)
        case .answer(let request, let decided, let minorVersion, let keepsAlive):
            start(request, decided, minorVersion, keepsAlive)
        case .refuse(let problem):
            let parts = HTTPParts(HTTPResponse(problem), for: nil, minorVersion: 1, keepsAlive: false)
            write([.head(parts.head), .body(parts.body), .end(nil)], nil)
        case .finish: context?.close(mode: .output, promise: nil)
        case .close: context?.close(promise: nil)
        }
    }

    private func arm(_ next: HTTPConnectionMachine.Timer?) {
        timer?.cancel()
        timer = nil
        guard let next, let context else { return }
        let time =
            switch next {
            case .idle: options.idleTime
            case .head: options.headTime
            case .body: options.bodyTime
            case .linger: options.lingerTime
            }
        let own = NIOLoopBound(self, eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: TimeAmount(time)) {
            own.value.perform(own.value.machine.timeIsUp())
        }
    }

    private func start(
        _ request: HTTPRequest, _ decided: HTTPResponse?, _ minorVersion: Int, _ keepsAlive: Bool
    ) {
        guard let context else { return }
        let sender = HTTPSender(
            loop: context.eventLoop, connection: NIOLoopBound(self, eventLoop: context.eventLoop))
        let answer = answer
        task = Task {
            let response: HTTPResponse = if let decided { decided } else { await answer(request) }
            await sender.send(
                response, for: request.method, minorVersion: minorVersion, keepsAlive: keepsAlive)
        }
    }

    // MARK: - Writing

    /// Writes parts; the promise is fulfilled when the socket has accepted all of them.
    ///
    /// If a client accepts no data for the idle time, its connection is closed.
    func write(_ parts: [HTTPServerResponsePart], _ promise: EventLoopPromise<Void>?) {
        guard let context, let last = parts.last else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        if let promise {
            let bound = context.loopBound
            let limit = context.eventLoop.scheduleTask(in: TimeAmount(options.idleTime)) {
                bound.value.close(promise: nil)
            }
            promise.futureResult.whenComplete { _ in limit.cancel() }
        }
        for part in parts.dropLast() { context.write(Self.wrapOutboundOut(part), promise: nil) }
        context.writeAndFlush(Self.wrapOutboundOut(last), promise: promise)
    }

    /// Handles the end of a response that was written completely.
    func answered() {
        task = nil
        perform(machine.answered())
    }
}

/// Counts bytes before they are parsed, and discards them after the last response.
final class HTTPByteCounter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connection: HTTPConnectionHandler

    init(_ connection: HTTPConnectionHandler) {
        self.connection = connection
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard connection.received(Self.unwrapInboundIn(data).readableBytes) else { return }
        context.fireChannelRead(data)
        connection.parsed()
    }
}

/// Sends a response to the connection, from the task that answers the request.
private struct HTTPSender: Sendable {
    /// The size of the pieces in which a body is written; after each piece, the idle time starts again.
    private static let pieceSize = 65_536

    let loop: any EventLoop
    let connection: NIOLoopBound<HTTPConnectionHandler>

    func send(_ response: HTTPResponse, for method: String, minorVersion: Int, keepsAlive: Bool) async {
        let parts = HTTPParts(response, for: method, minorVersion: minorVersion, keepsAlive: keepsAlive)
        switch response.body {
        case .bytes(let bytes) where bytes.count <= Self.pieceSize || method == "HEAD":
            guard await write([.head(parts.head), .body(parts.body), .end(nil)]) else { return }
        case .bytes(let bytes):
            guard await write([.head(parts.head)]), await write(pieces: bytes), await write([.end(nil)])
            else {
                return
            }
        case .stream(let body):
            guard await write([.head(parts.head)]) else { return }
            if method != "HEAD" { await body(HTTPStreamWriter { await write(pieces: $0) }) }
            guard await write([.end(nil)]) else { return }
        }
        loop.execute { connection.value.answered() }
    }

    private func write(pieces bytes: [UInt8]) async -> Bool {
        var start = 0
        while start < bytes.count {
            let end = min(start + Self.pieceSize, bytes.count)
            guard await write([.body(.byteBuffer(ByteBuffer(bytes: bytes[start..<end])))]) else {
                return false
            }
            start = end
        }
        return !Task.isCancelled
    }

    /// Waits until the socket has accepted the parts; returns `false` if the client has disconnected.
    private func write(_ parts: [HTTPServerResponsePart]) async -> Bool {
        let promise = loop.makePromise(of: Void.self)
        loop.execute { connection.value.write(parts, promise) }
        do {
            try await promise.futureResult.get()
            return true
        } catch {
            return false
        }
    }
}
