import NIOCore

/// Holds back a server's response until the client has written its request.
///
/// NIO's HTTP decoder fails on an earlier response. A server whose connections are all in use sends 503 as
/// soon as it has accepted a connection.
final class EarlyAnswer: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The bytes that arrived before the request was written, or `nil` after that.
    private var held: [NIOAny]? = []
    private var isInputClosed = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if held == nil { context.fireChannelRead(data) } else { held?.append(data) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if held != nil, let event = event as? ChannelEvent, event == .inputClosed {
            isInputClosed = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        release(context)
        context.fireChannelInactive()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        context.write(data, promise: promise)
        release(context)
    }

    private func release(_ context: ChannelHandlerContext) {
        guard let early = held else { return }
        held = nil
        for data in early { context.fireChannelRead(data) }
        if !early.isEmpty { context.fireChannelReadComplete() }
        if isInputClosed { context.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
    }
}
