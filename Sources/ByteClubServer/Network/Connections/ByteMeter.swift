import NIOCore

/// Notes how a connection's bytes come and go, below TLS and HTTP: the pace that ``ConnectionHandler`` judges.
final class ByteMeter: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Whether the connection has one of the server's places.
    let admission: OpenConnections.Admission
    /// The bytes received so far.
    private(set) var received: Int64 = 0
    /// The bytes handed to the channel so far.
    private(set) var written: Int64 = 0
    /// When the first byte since the last ``forgetStart()`` came.
    private(set) var start: NIODeadline?

    private let connections: OpenConnections
    private var wantsSince: NIODeadline?
    private var waitedBefore = TimeAmount.zero

    /// Meters a connection for the server's totals.
    init(admission: OpenConnections.Admission, connections: OpenConnections) {
        self.admission = admission
        self.connections = connections
    }

    /// How long the server has been ready to read while the client sent nothing, since ``forgetWaiting(at:)``.
    func waited(at now: NIODeadline) -> TimeAmount {
        wantsSince.map { waitedBefore + (now - $0) } ?? waitedBefore
    }

    /// Counts waiting from now on.
    func forgetWaiting(at now: NIODeadline) {
        waitedBefore = .zero
        if wantsSince != nil { wantsSince = now }
    }

    /// Lets the next byte be a first one.
    func forgetStart() { start = nil }

    func read(context: ChannelHandlerContext) {
        if wantsSince == nil { wantsSince = .now() }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let count = unwrapInboundIn(data).readableBytes
        let now = NIODeadline.now()
        if let since = wantsSince { waitedBefore = waitedBefore + (now - since) }
        wantsSince = nil
        if start == nil { start = now }
        received += Int64(count)
        connections.received(count)
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let count = unwrapOutboundIn(data).readableBytes
        written += Int64(count)
        connections.sent(count)
        context.write(data, promise: promise)
    }
}
