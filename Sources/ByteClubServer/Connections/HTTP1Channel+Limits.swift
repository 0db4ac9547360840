import HummingbirdCore

extension HTTP1Channel.Configuration {
    /// The most bytes of one header field, and of the request line.
    static let fieldSize = 16 << 10

    /// HTTP as the limits allow it.
    init(_ limits: ConnectionLimits) {
        self.init(
            additionalChannelHandlers: [ConnectionHandler(limits: limits)], idleTimeout: nil,
            httpDecoderConfiguration: DecoderConfiguration(
                maxHeaderFieldSize: Self.fieldSize, maxHeaderListSize: 64 << 10, maxHeaderFieldCount: 100))
    }
}
