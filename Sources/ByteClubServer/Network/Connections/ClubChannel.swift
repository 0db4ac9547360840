import Glibc
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOPosix
import NIOSSL
import ServiceLifecycle

/// Builds the pipeline of a connection: the meter, TLS when there is a certificate, the gate, then HTTP.
struct ClubChannel: HTTPChannelHandler {
    typealias Value = HTTP1Channel.Value

    /// The most unsent bytes in the kernel.
    ///
    /// Without a bound the kernel accepts megabytes for a client that reads none, which are then made for nothing.
    /// Bytes in flight do not count, so that no download is slower; see TCP_NOTSENT_LOWAT in tcp(7).
    private static let mostUnsent = 128 << 10

    /// HTTP on a connection.
    let http: HTTP1Channel
    /// The certificate of new connections; nil for plain HTTP.
    let certificate: CertificateSource?
    /// Counts the connections.
    let connections: OpenConnections

    var responder: HTTPChannelHandler.Responder { http.responder }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let unsent = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: TCP_NOTSENT_LOWAT))
            try? channel.syncOptions?.setOption(unsent, value: .init(Self.mostUnsent))
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(ByteMeter(admission: connections.admit(channel), connections: connections))
            if let certificate { try pipeline.addHandler(NIOSSLServerHandler(context: certificate.current)) }
            try pipeline.addHandler(RequestGate())
        }.flatMap {
            http.setup(channel: channel, logger: logger)
        }.flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandlers([HostCheck(), LastRequest()], position: .before(codec))
            return value
        }
    }

    func handle(value: Value, logger: Logger) async {
        await http.handle(value: value, logger: logger)
    }
}

extension ListenAddress {
    /// Serves connections here until a graceful shutdown or cancellation.
    ///
    /// - Parameters:
    ///   - connections: Counts the connections.
    ///   - limits: The limits of each.
    ///   - certificate: The certificate of new connections; nil for plain HTTP.
    ///   - backlog: How many connections may wait until they are accepted.
    ///   - logger: The log of failures.
    ///   - onListening: Called once with the URL when connections are accepted.
    ///   - responder: Answers each request.
    /// - Throws: When the address cannot be bound.
    func serve(
        _ connections: OpenConnections, _ limits: ConnectionLimits, certificate: CertificateSource? = nil,
        backlog: Int = 256, logger: Logger, onListening: @escaping @Sendable (String) async -> Void,
        responder: @escaping HTTPChannelHandler.Responder
    ) async throws {
        let isSecure = certificate != nil
        let builder = HTTPServerBuilder { responder in
            ClubChannel(
                http: HTTP1Channel(responder: responder, configuration: .init(limits, connections, isSecure: isSecure)),
                certificate: certificate, connections: connections)
        }
        // The framework's own lines say the same as ours, so only its warnings are kept.
        let server = try builder.buildServer(
            configuration: ServerConfiguration(address: .hostname(host, port: port), backlog: backlog),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger.atLeast(.warning),
            responder: responder,
            onServerRunning: { channel in
                do {
                    try await AcceptErrors.install(on: channel, logger: logger)
                } catch {
                    logger.warning("cannot watch for failed connections: \(ServerFault.line(for: error))")
                }
                let authority = authority(port: channel.localAddress?.port ?? port)
                await onListening("\(isSecure ? "https" : "http")://\(authority)")
            })
        do {
            try await server.run()
        } catch {
            throw failure(error)
        }
    }
}

/// Keeps a failed accept from ending the server: without descriptors or memory it continues when there are some again.
///
/// The channel already pauses before it accepts again. Only the stream of connections must not see the error, because
/// it would end.
final class AcceptErrors: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private let logger: Logger

    private init(logger: Logger) {
        self.logger = logger
    }

    /// Adds the handler after the one of a listening channel that accepts.
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
