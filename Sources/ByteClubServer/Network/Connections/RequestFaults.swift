import ByteClubCore
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// The answer on a connection whose input is no request.
enum ConnectionFault {
    /// The most requests that may have come and have no answer yet.
    static let mostRequests = 8

    static let tooManyConnections = APIError(503, "the server has too many connections; try again", retryAfter: 5)
    static let slowHead = APIError(408, "the request's head took too long")
    static let slowBody = APIError(408, "the request's body was too slow")
    /// Too many requests wait behind one whose answer is due.
    static let tooManyWaiting = APIError(
        429, "too many pending requests on this connection; read answers before sending more", retryAfter: 1)
    /// There is no `Host`, several, or one that is no host; RFC 9112, 3.2.
    static let noHost = APIError(400, "the request needs one Host header, which names a host")

    /// The refusal of input that is not HTTP; nil for errors of another kind.
    static func refusal(for error: any Error) -> APIError? {
        if let fault = error as? APIError { return fault }
        if error is HTTP1TypeConversionError { return APIError(400, "the request is malformed") }
        guard let error = error as? HTTPParserError else { return nil }
        switch error {
        case .headerOverflow: return APIError(431, "the request's head is too large")
        case .invalidVersion: return APIError(505, "the server supports only HTTP/1")
        default: return APIError(400, "the request is malformed")
        }
    }
}

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
            return context.fireErrorCaught(ConnectionFault.noHost)
        }
        context.fireChannelRead(data)
    }

    private static func isGood(_ head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["Host"]
        guard hosts.count == 1, let host = hosts.first else { return hosts.isEmpty && head.version == .http1_0 }
        return HostName.isValid(host)
    }
}

/// Ends a connection with the response to a request after which no other can be read.
///
/// That is one of HTTP/1.0, unless the client asks for keep-alive: the framework supports 1.1 only. And it is one that
/// offers another protocol (RFC 9110, 7.8), after which the parser treats no byte as a request any more, but keeps them
/// all.
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
