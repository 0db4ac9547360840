import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Ends a connection after a response that says so, without losing that response.
///
/// A server that answers before it has read the whole request must not close at once: unread bytes would make the
/// kernel reset the connection, and the client might never see the answer. So the sending side is closed first, what
/// still comes in is dropped, and the rest is closed when the client is done or a moment has passed.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private static let patience = TimeAmount.seconds(2)
    private static let largestRead = 128 << 10

    private var isLastResponse = false
    private var isClosing = false

    func handlerAdded(context: ChannelHandlerContext) {
        let allocator = AdaptiveRecvByteBufferAllocator(minimum: 1 << 10, initial: 4 << 10, maximum: Self.largestRead)
        try? context.channel.syncOptions?.setOption(ChannelOptions.recvAllocator, value: allocator)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !isClosing { context.fireChannelRead(data) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.status.code >= 200:
            isLastResponse = head.headerFields[.connection] == "close"
            context.write(data, promise: promise)
        case .end where isLastResponse:
            isClosing = true
            context.writeAndFlush(data, promise: promise)
            context.close(mode: .output, promise: nil)
            let channel = context.channel
            context.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
        default:
            context.write(data, promise: promise)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if isClosing, case ChannelEvent.inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }
}
