import Logging
import NIOCore

/// Keeps a failed accept from ending the server: without descriptors or memory it goes on when there are some again.
///
/// The channel already pauses before it accepts again. Only the stream of connections must not see the error, because
/// it would end.
final class AcceptErrors: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private let logger: Logger

    private init(logger: Logger) {
        self.logger = logger
    }

    /// Stands behind the part of a listening channel that accepts.
    static func install(on channel: any Channel, logger: Logger) async throws {
        try await channel.eventLoop.submit {
            let pipeline = channel.pipeline.syncOperations
            let accepting = try pipeline.context(name: "AcceptHandler").handler
            try pipeline.addHandler(AcceptErrors(logger: logger), position: .after(accepting))
        }.get()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        logger.warning("cannot accept a connection: \(ServerFault.line(for: error))")
    }
}
