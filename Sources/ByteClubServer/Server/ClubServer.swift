import ByteClubCore
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycle

/// The HTTP server of a club: the composition of storage, operations and sockets.
///
/// A graceful shutdown stops listening, answers long polls at once and lets calls that have begun end.
struct ClubServer: Service {
    private static let renderingThreads = 2
    private static let idleTimeout = TimeAmount.seconds(120)
    private static let backlog = 1024

    private let configuration: ClubConfiguration
    private let store: any MetadataStore
    private let logger: Logger
    private let onListening: @Sendable (String) async -> Void

    /// Composes a server; nothing is opened yet.
    ///
    /// - Parameters:
    ///   - configuration: Where and how to serve.
    ///   - store: The club's data, open.
    ///   - logger: Where a line for each request goes.
    ///   - onListening: Called once with the server's URL when connections are accepted.
    init(
        configuration: ClubConfiguration, store: any MetadataStore, logger: Logger,
        onListening: @escaping @Sendable (String) async -> Void
    ) {
        self.configuration = configuration
        self.store = store
        self.logger = logger
        self.onListening = onListening
    }

    /// Serves until a graceful shutdown or cancellation.
    ///
    /// - Throws: When the address cannot be bound or the certificate cannot be read.
    func run() async throws {
        let threads = NIOThreadPool(numberOfThreads: Self.renderingThreads)
        threads.start()
        let result: Result<Void, any Error>
        do {
            result = .success(try await serve(renderingOn: threads))
        } catch {
            result = .failure(error)
        }
        try await threads.shutdownGracefully()
        try result.get()
    }

    private func serve(renderingOn threads: NIOThreadPool) async throws {
        let cache = configuration.directory + "/thumbnails"
        let thumbnails = ThumbnailStore(
            directory: cache, threads: threads, render: ThumbnailRenderer(scratch: cache).render)
        var settings = configuration.settings
        settings.isSecure = configuration.certificate != nil
        let api = ClubAPI(
            store: store, thumbnails: thumbnails, media: MediaInfoReader(store: store, threads: threads),
            settings: settings)
        let responder = ClubResponder(api: api, logger: logger, now: settings.now)
        let scheme = configuration.certificate == nil ? "http" : "https"
        let (address, onListening) = (configuration.address, onListening)
        let server = try builder().buildServer(
            configuration: ServerConfiguration(
                address: .hostname(address.host, port: address.port), backlog: Self.backlog),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: frameworkLogger,
            responder: { request, writer, channel in
                try await responder.respond(to: request, writer, on: channel)
            },
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? address.port
                await onListening("\(scheme)://\(address.authority(port: port))")
            })
        try await server.run()
    }

    private func builder() throws -> HTTPServerBuilder {
        let plain = HTTPServerBuilder.http1(
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [ConnectionHandler()], idleTimeout: Self.idleTimeout,
                httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
                    maxHeaderFieldSize: 16 << 10, maxHeaderListSize: 64 << 10, maxHeaderFieldCount: 100)))
        guard let files = configuration.certificate else { return plain }
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(files.certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: files.key, format: .pem)))
        tls.minimumTLSVersion = .tlsv12
        tls.applicationProtocols = ["http/1.1"]
        return try .tls(plain, tlsConfiguration: tls)
    }

    /// The framework's own lines say the same as ours, so only its warnings are kept.
    private var frameworkLogger: Logger {
        var logger = logger
        logger.logLevel = max(logger.logLevel, .warning)
        return logger
    }
}
