import Logging
import NIOPosix
import ServiceLifecycle

/// The HTTP server of a club: the composition of storage, operations and sockets.
///
/// A graceful shutdown stops listening, answers long polls at once and lets calls that have begun end.
struct ClubServer: Service {
    private static let renderingThreads = 2
    private static let backlog = 1024

    private let configuration: ClubConfiguration
    private let store: any ClubStore
    private let logger: Logger
    private let certificate: CertificateSource?
    private let connections: OpenConnections
    private let requests = RequestMetrics()
    /// The resources that requests share.
    let shares = SharedLimits()
    private let threads = NIOThreadPool(numberOfThreads: Self.renderingThreads)
    private let pictures: PictureStore
    private let onListening: @Sendable (String) async -> Void
    private let onStopping: @Sendable () -> Void

    /// Composes a server; only the certificate is opened.
    ///
    /// - Parameters:
    ///   - configuration: Where and how to serve.
    ///   - store: The club's data, open.
    ///   - logger: The log of the requests.
    ///   - onListening: Called once with the server's URL when connections are accepted.
    ///   - onStopping: Called when a shutdown begins.
    /// - Throws: `NIOSSLError` when the certificate cannot be used.
    init(
        configuration: ClubConfiguration, store: any ClubStore, logger: Logger,
        onListening: @escaping @Sendable (String) async -> Void, onStopping: @escaping @Sendable () -> Void = {}
    ) throws {
        self.configuration = configuration
        self.store = store
        self.logger = logger
        self.onListening = onListening
        self.onStopping = onStopping
        certificate = try configuration.certificate.map { try CertificateSource(files: $0) }
        pictures = PictureStore(
            directory: configuration.directory + "/thumbnails", threads: threads, turns: shares.renderings,
            reserve: DiskReserve(configuration.directory))
        connections = OpenConnections(
            limit: configuration.connections.connections, trusting: configuration.trustedProxies)
    }

    /// The metrics and the health of this server.
    var monitor: Monitor {
        Monitor(
            requests: requests, connections: connections, limits: configuration.settings.limits, shares: shares,
            store: store,
            health: HealthCheck(store: store, directory: configuration.directory, connections: connections))
    }

    /// The service that examines new photos, once it runs.
    var photoIndexing: PhotoIndexing {
        PhotoIndexing(store: store, media: media, pictures: pictures, logger: logger)
    }

    private var media: MediaInfoReader { MediaInfoReader(store: store, threads: threads, turns: shares.renderings) }

    /// Reads the certificate again for new connections; when that fails, the one in use stays.
    ///
    /// - Returns: Whether there is a certificate at all.
    /// - Throws: `NIOSSLError` when the new one cannot be used.
    func reloadCertificate() throws -> Bool {
        try certificate?.reload()
        return certificate != nil
    }

    /// Serves until a graceful shutdown or cancellation.
    ///
    /// - Throws: When the address cannot be bound.
    func run() async throws {
        threads.start()
        let result: Result<Void, any Error>
        do {
            result = .success(try await serve())
        } catch {
            result = .failure(error)
        }
        try await threads.shutdownGracefully()
        try result.get()
    }

    private func serve() async throws {
        let api = ClubAPI(
            store: store, pictures: pictures, media: media, settings: configuration.settings, shares: shares)
        let open = OpenRequests(store: store)
        let responder = ClubResponder(
            api: api, requests: open, configuration: configuration, metrics: requests, logger: logger,
            refusals: RefusalLog(logger: logger))
        async let _ = open.watch()
        try await withGracefulShutdownHandler {
            try await configuration.address.serve(
                connections, configuration.connections, certificate: certificate, backlog: Self.backlog,
                logger: logger, onListening: onListening
            ) { request, writer, channel in
                try await responder.respond(to: request, writer, on: channel)
            }
        } onGracefulShutdown: { [connections, onStopping] in
            connections.beginDraining()
            onStopping()
        }
    }
}
