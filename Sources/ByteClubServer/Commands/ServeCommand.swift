import ArgumentParser
import Glibc
import Logging
import NIOSSL
import ServiceLifecycle
import UnixSignals

/// `serve`, the default command: runs the server until SIGTERM or SIGINT.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve a club's data until SIGTERM or SIGINT.")

    private static let drainLimit = Duration.seconds(20)

    @OptionGroup var data: DataOption
    @Option(help: "Where to listen, as HOST:PORT; port 0 picks a free one.")
    var listen = "127.0.0.1:8017"
    @Option(help: "A PEM file with the server's certificate, and those that vouch for it.")
    var tlsCertificate: String?
    @Option(help: "A PEM file with the certificate's private key.")
    var tlsKey: String?
    @Option(help: "The URL by which clients find this server, when a proxy stands before it.")
    var publicURL: String?
    @Flag(help: "Allow plain HTTP beyond this machine: anybody on the way can read tokens and files.")
    var insecureHTTP = false
    @Option(help: "trace, debug, info, notice, warning, error or critical.")
    var logLevel = "info"
    @Option(help: ArgumentHelp("The shortest long poll in seconds; lower values are for tests.", visibility: .hidden))
    var longpollMinimum: Int64 = 30
    @Option(help: ArgumentHelp("The most bytes of one upload or chunk.", visibility: .hidden))
    var bodyLimit: Int64 = 157_286_400
    @OptionGroup var history: HistoryOptions

    func run() async throws {
        let settings = try serverConfiguration()
        guard let level = Logger.Level(rawValue: logLevel) else {
            throw CommandFailure(.usage, "'\(logLevel)' is no log level")
        }
        signal(SIGPIPE, SIG_IGN)
        let logger = Logger(label: "byteclub-server") { _ in LineLog(level: level) }
        let store = try data.open(.server, settings: history.settings(), logger: logger)
        let housekeeping = Housekeeping(store: store, interval: history.interval, logger: logger)
        let server = ClubServer(configuration: settings, store: store, logger: logger) { url in
            // A disk that is full must not keep the server from starting.
            try? await store.setPublicURL(settings.settings.publicURL.isEmpty ? url : settings.settings.publicURL)
            StandardOutput.write(line: "listening on \(url)")
        }
        var group = ServiceGroupConfiguration(
            services: [.init(service: housekeeping), .init(service: server)],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "services") { _ in LineLog(level: max(level, .warning)) })
        group.maximumGracefulShutdownDuration = Self.drainLimit
        do {
            try await ServiceGroup(configuration: group).run()
        } catch let error as NIOSSLError {
            throw CommandFailure(.configuration, "the certificate or its key cannot be used: \(error)")
        }
        try store.close()
    }

    private func serverConfiguration() throws(CommandFailure) -> ClubConfiguration {
        guard let address = ListenAddress(listen) else {
            throw CommandFailure(.usage, "'\(listen)' is not HOST:PORT")
        }
        var configuration = ClubConfiguration(address: address, directory: data.data)
        switch (tlsCertificate, tlsKey) {
        case (let certificate?, let key?):
            for file in [certificate, key] where unsafe access(file, R_OK) != 0 {
                throw CommandFailure(
                    .configuration, "cannot read '\(file)': \(unsafe String(cString: strerror(errno)))")
            }
            configuration.certificate = ClubConfiguration.CertificateFiles(certificate: certificate, key: key)
        case (nil, nil):
            guard address.isLoopback || insecureHTTP else {
                throw CommandFailure(
                    .configuration,
                    "plain HTTP on '\(address.host)' would show tokens to the network: "
                        + "give --tls-certificate and --tls-key, or --insecure-http")
            }
        default: throw CommandFailure(.configuration, "--tls-certificate and --tls-key belong together")
        }
        guard longpollMinimum >= 0, longpollMinimum <= 480, bodyLimit >= 0 else {
            throw CommandFailure(.usage, "--longpoll-minimum is 0 to 480, and --body-limit not negative")
        }
        configuration.settings = ClubAPI.Settings(
            bodyLimit: bodyLimit, longpollMinimum: longpollMinimum, publicURL: publicURL ?? "")
        return configuration
    }
}
