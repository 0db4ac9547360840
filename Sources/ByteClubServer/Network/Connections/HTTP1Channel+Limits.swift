import HummingbirdCore

extension HTTP1Channel.Configuration {
    /// The most bytes of one header field, and of the request line.
    static let fieldSize = 16 << 10

    /// HTTP as the limits allow it, over TLS or not.
    init(_ limits: ConnectionLimits, _ connections: OpenConnections, isSecure: Bool) {
        self.init(
            additionalChannelHandlers: [
                ConnectionHandler(limits: limits, connections: connections, isSecure: isSecure)
            ], idleTimeout: nil,
            httpDecoderConfiguration: DecoderConfiguration(
                maxHeaderFieldSize: Self.fieldSize, maxHeaderListSize: 64 << 10, maxHeaderFieldCount: 100))
    }
}
