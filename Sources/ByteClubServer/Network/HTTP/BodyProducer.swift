import NIOCore

/// Makes a content while it is sent, piece by piece, no faster than the client receives it.
protocol BodyProducer: Sendable {
    /// The content's length in bytes; nil when it shows only at the end.
    var length: Int64? { get }

    /// Makes the content.
    ///
    /// `pieceSize` tells how long a piece may be now, and `send` waits until there is room for the next. An error ends
    /// the connection, so that what was sent is not taken for the whole.
    func produce(pieceSize: () -> Int, _ send: (ByteBuffer) async throws -> Void) async throws
}
