import HTTPTypes
import NIOCore
import NIOHTTP1

/// Ends a connection with the response to a request behind which no other can be read.
///
/// That is one of HTTP/1.0, unless the client asks for more: the framework knows 1.1 alone. And it is one that offers
/// to go on with another protocol (RFC 9110, 7.8), behind which the parser takes no byte for a request any more, but
/// keeps them all.
final class LastRequest: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// Whether a request offers to go on with another protocol, which the server never does.
    static func offersAnotherProtocol(_ head: HTTPRequest) -> Bool {
        head.method == .connect || head.headerFields[.upgrade] != nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data),
            !head.isKeepAlive || head.method == .CONNECT || head.headers.contains(name: "Upgrade")
        else { return context.fireChannelRead(data) }
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}
