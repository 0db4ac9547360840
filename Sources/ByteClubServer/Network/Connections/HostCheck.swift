import NIOCore
import NIOHTTP1

/// Refuses requests that do not say which host they are for, as RFC 9112, 3.2 demands: programs before and behind this
/// one could otherwise take them for different hosts' requests.
///
/// Before HTTP/1.1 a request need not name a host, but not several either.
final class HostCheck: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private var isRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isRefused { return }
        if case .head(let head) = unwrapInboundIn(data), !Self.isGood(head) {
            isRefused = true
            return context.fireErrorCaught(RequestFault.host)
        }
        context.fireChannelRead(data)
    }

    private static func isGood(_ head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["Host"]
        guard hosts.count == 1, let host = hosts.first else { return hosts.isEmpty && head.version == .http1_0 }
        return HostName.isValid(host)
    }
}
