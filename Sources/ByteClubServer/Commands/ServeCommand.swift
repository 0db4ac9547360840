import ArgumentParser
import ByteClubCore
import FoundationEssentials
import Glibc
import Logging
import NIOCore
import NIOSSL
import ServiceLifecycle
import UnixSignals

/// `serve`, the default command: runs the server until SIGTERM or SIGINT.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve a club's data until SIGTERM or SIGINT.",
        discussion: """
            Without a certificate, only programs on this machine can reach the server. To let others in, give an \
            address to listen on, the URL that others use, and a certificate; or let the server create one, whose \
            key is in the links that it creates:
              byteclub-server serve --data /srv/club --listen 0.0.0.0:8443
                --public-url https://club.example:8443 --tls-self-signed

            Started at a terminal, the server stops when the terminal is closed, except with --stay or nohup.

            As long as the club has no owner, the log has a link whose first user becomes the owner.
            """)

    @OptionGroup var options: ServeOptions

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let source = try SettingSource(flags: options.flags, environment: environment, file: options.config)
        var configuration = try ClubConfiguration(source)
        let (level, format) = (configuration.logLevel, configuration.logFormat)
        signal(SIGPIPE, SIG_IGN)
        let hangup = Hangup.current(stays: options.stay)
        // A person looks for the link and for errors, not for requests.
        if isatty(STDERR_FILENO) == 1 { configuration.requestLevel = .debug }
        let logger = Logger(label: "byteclub-server") { _ in LineLog(level: level, format: format) }
        let allowed = DescriptorLimit.raise()
        if allowed < configuration.connections.connections {
            logger.notice("the limit on open files allows \(allowed) connections")
            configuration.connections.connections = allowed
        }
        if let warning = configuration.history.warning { logger.warning("\(warning)") }
        let store = try DataDirectory(path: configuration.directory).serve(
            configuration.history, readers: SharedLimits.databaseReaders, logger: logger)
        let result: Result<Void, any Error>
        do {
            try Self.makeCertificate(&configuration, logger)
            result = .success(
                try await serve(store, configuration, hangup, ServiceNotifier(environment: environment), logger))
        } catch let error as NIOSSLError {
            result = .failure(Self.refusal(error, of: configuration.certificate))
        } catch {
            result = .failure(error)
        }
        try store.close()
        try result.get()
    }

    /// Creates the server's own certificate, or loads the one that it created before.
    private static func makeCertificate(_ configuration: inout ClubConfiguration, _ logger: Logger) throws {
        guard configuration.makesCertificate else { return }
        let published = ClubAddress(configuration.settings.publicURL)?.host
        let own = try SelfSignedCertificate(
            in: configuration.directory, for: [published, configuration.address.host].compactMap(\.self))
        configuration.certificate = own.files
        configuration.settings.pin = own.pin
        logger.notice("using a self-signed certificate; links contain its key: #sha256=\(own.pin)")
    }

    /// The failure for a certificate that cannot be used.
    private static func refusal(_ error: NIOSSLError, of files: ClubConfiguration.CertificateFiles?) -> CommandFailure {
        let reason =
            switch error {
            case .failedToLoadCertificate: "'\(files?.certificate ?? "")' contains no PEM certificate"
            case .failedToLoadPrivateKey: "'\(files?.key ?? "")' contains no PEM private key"
            default: "the certificate or its key cannot be used: \(error)"
            }
        return CommandFailure(.configuration, reason)
    }

    private func serve(
        _ store: any ClubStore, _ configuration: ClubConfiguration, _ hangup: Hangup, _ notifier: ServiceNotifier?,
        _ logger: Logger
    ) async throws {
        let (published, pin) = (configuration.settings.publicURL, configuration.settings.pin)
        let server = try ClubServer(configuration: configuration, store: store, logger: logger) { url in
            let address = ClubAddress.text(published.isEmpty ? url : published, pin: pin)
            // A disk that is full must not keep the server from starting.
            try? await store.setPublicURL(address)
            await Self.inviteOwner(to: address, store, logger, configuration.logFormat)
            StandardOutput.mention("listening on \(url)")
            notifier?.send("READY=1\nSTATUS=listening on \(url)")
        } onStopping: {
            notifier?.send("STOPPING=1")
        }
        let housekeeping = Housekeeping(store: store, interval: configuration.housekeepingInterval, logger: logger)
        let indexing = TextIndexing(store: store, logger: logger)
        try await services(
            server, beside: [housekeeping, indexing, server.photoIndexing], configuration, hangup, notifier, logger
        ).run()
    }

    /// Logs how the host of a new club becomes its owner.
    ///
    /// In a log for people the link is alone on its line, so that it can be clicked and copied.
    private static func inviteOwner(
        to address: String, _ store: any ClubStore, _ logger: Logger, _ format: LogFormat
    ) async {
        guard logger.logLevel <= .notice else { return }
        guard let address = ClubAddress(address) else {
            if (try? await store.hasOwner()) == false {
                logger.notice(
                    "the club has no owner yet: start with --public-url to get a link for one, or run 'members add'"
                )
            }
            return
        }
        guard let invitation = try? await OwnerInvitation.current(in: store, at: SystemTime.seconds()) else { return }
        let message: Logger.Message =
            "the club has no owner yet; until \(invitation.expires.rfc3339) this link creates one:"
        let link = address.invitation(invitation.secret)
        switch format {
        case .text:
            logger.notice(message)
            LineLog.toStandardError(link + "\n")
        case .json: logger.notice(message, metadata: ["link": "\(link)"])
        }
    }

    /// The server is last, so that it stops first, while the others still report.
    private func services(
        _ server: ClubServer, beside others: [any Service], _ configuration: ClubConfiguration, _ hangup: Hangup,
        _ notifier: ServiceNotifier?, _ logger: Logger
    ) -> ServiceGroup {
        var services = others + [FreeMemoryRelease()]
        var ending = [UnixSignal.sigterm, .sigint]
        switch hangup {
        case .reload: services.append(CertificateReload(server: server, notifier: notifier, logger: logger))
        case .end: ending.append(.sighup)
        }
        let monitor = server.monitor
        if let address = configuration.monitorAddress {
            services.append(
                MonitorServer(address: address, monitor: monitor, logger: logger) { url in
                    logger.notice("health and metrics on \(url)")
                })
        }
        if let notifier, notifier.watchdogInterval != nil {
            services.append(WatchdogService(notifier: notifier, health: monitor.health))
        }
        services.append(server)
        var group = ServiceGroupConfiguration(
            services: services.map { .init(service: $0) }, gracefulShutdownSignals: ending,
            logger: Logger(label: "services") { _ in LineLog(level: max(configuration.logLevel, .warning)) })
        // Connections end by themselves before; this limit is for services that hang.
        group.maximumGracefulShutdownDuration = .nanoseconds(configuration.connections.drain.nanoseconds) + .seconds(10)
        return ServiceGroup(configuration: group)
    }
}
