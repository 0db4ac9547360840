import ByteClubCore
import Glibc
import Logging
import NIOCore

/// The configuration of a server.
struct ClubConfiguration: Sendable {
    /// The certificate chain and its key, as PEM files.
    struct CertificateFiles: Sendable, Equatable {
        /// The certificate, followed by those that vouch for it.
        let certificate: String
        /// The certificate's private key.
        let key: String
    }

    /// Where to listen.
    var address: ListenAddress
    /// The data directory.
    var directory: String
    /// The certificate; nil for plain HTTP.
    var certificate: CertificateFiles?
    /// Whether the server makes a certificate of its own, and keeps it with the data.
    var makesCertificate = false
    /// Where to serve health and metrics; nil for nowhere.
    var monitorAddress: ListenAddress?
    /// The proxies whose headers about the client are trusted.
    var trustedProxies: [AddressRange] = []
    /// The header that they write; nil for whichever there is, if there is only one kind.
    var proxyHeader: ProxyHeader?
    /// How many connections there may be, and how slow they may be.
    var connections = ConnectionLimits()
    /// The least important messages that are logged.
    var logLevel = Logger.Level.info
    /// How important the lines about single requests are.
    var requestLevel = Logger.Level.info
    /// How the log's lines look.
    var logFormat = LogFormat.text
    /// How long the past is kept, and how much may be stored.
    var history = HistorySettings()
    /// The time between two rounds of housekeeping.
    var housekeepingInterval = Duration.seconds(3600)
    /// Limits and names that calls depend on.
    var settings = ClubAPI.Settings()
}

extension ClubConfiguration {
    /// The default address.
    static let defaultAddress = "127.0.0.1:8017"

    /// Parses the settings.
    ///
    /// - Throws: ``CommandFailure`` naming the setting: 64 when it is a flag, else 78.
    init(_ source: SettingSource) throws(CommandFailure) {
        guard let directory = source.text(.data), !directory.isEmpty else {
            throw CommandFailure(
                .usage, "no data directory; give --data <dir>, BYTECLUB_SERVER_DATA, or 'data' in the file")
        }
        guard let address = try source.address(.listen) ?? ListenAddress(Self.defaultAddress) else {
            throw source.refusal(.listen, expected: "HOST:PORT")
        }
        self.init(address: address, directory: directory)
        certificate = try Self.certificate(source)
        makesCertificate = try source.bool(.tlsSelfSigned)
        if makesCertificate, certificate != nil {
            throw CommandFailure(
                .configuration, "--tls-self-signed cannot be combined with --tls-certificate and --tls-key")
        }
        if certificate == nil, !makesCertificate {
            guard try source.bool(.insecureHTTP) || address.isLoopback else {
                throw CommandFailure(
                    .configuration,
                    "http on '\(address.host)' would expose tokens to the network; "
                        + "use --tls-self-signed, a certificate, or --insecure-http if you must")
            }
        }
        monitorAddress = try source.address(.metricsListen)
        trustedProxies = try source.ranges(.trustedProxies)
        proxyHeader = try source.word(.proxyHeader)
        logLevel = try source.word(.logLevel) ?? logLevel
        logFormat = try source.word(.logFormat) ?? logFormat
        connections = try Self.connections(source)
        history = try Self.history(source)
        housekeepingInterval = .nanoseconds(
            try source.seconds(.housekeepingInterval, default: .seconds(3600)).nanoseconds)
        settings.clubName = try Self.clubName(source)
        if let url = source.text(.publicURL) {
            guard ClubAddress(url) != nil else {
                throw source.refusal(
                    .publicURL, expected: "an address that others can open, as in https://club.example", got: url)
            }
            settings.publicURL = url
        }
        settings.mapLink = try Self.mapLink(source)
        settings.bodyLimit = try source.number(.bodyLimit, in: 0...Int64.max, default: settings.bodyLimit)
        settings.longpollMinimum = try source.number(.longpollMinimum, in: 0...480, default: settings.longpollMinimum)
        settings.limits = RequestLimits(
            memberRate: try source.number(.memberRate, in: 0...1_000_000, default: RequestLimits.memberRate),
            attemptRate: try source.number(.attemptRate, in: 0...1_000_000, default: RequestLimits.attemptRate),
            anonymousRate: try source.number(.anonymousRate, in: 0...1_000_000, default: RequestLimits.anonymousRate))
    }

    private static func clubName(_ source: SettingSource) throws(CommandFailure) -> String? {
        guard let text = source.text(.name) else { return nil }
        do {
            return try ClubName.read(text)
        } catch {
            throw source.refusal(.name, expected: ClubName.rule, got: VisibleText.line(text))
        }
    }

    private static func mapLink(_ source: SettingSource) throws(CommandFailure) -> MapLink? {
        guard let text = source.text(.mapLink) else { return .openStreetMap }
        if text == "off" || text == "none" { return nil }
        guard let link = MapLink(text) else {
            throw source.refusal(.mapLink, expected: MapLink.rule, got: VisibleText.line(text))
        }
        return link
    }

    private static func connections(_ source: SettingSource) throws(CommandFailure) -> ConnectionLimits {
        var limits = ConnectionLimits()
        limits.connections = try source.number(.connections, in: 1...1_000_000, default: limits.connections)
        limits.idle = try source.seconds(.idleTimeout, default: limits.idle)
        limits.head = try source.seconds(.headTimeout, default: limits.head)
        limits.stall = try source.seconds(.stallTimeout, default: limits.stall)
        limits.slowest = try source.number(.slowestClient, in: 0...1_000_000, default: limits.slowest)
        limits.drain = try source.seconds(.drainTimeout, default: limits.drain)
        return limits
    }

    private static func history(_ source: SettingSource) throws(CommandFailure) -> HistorySettings {
        var history = HistorySettings(
            keep: try source.number(.keepHistory, in: 0...100_000).map { $0 * 86_400 },
            clubQuota: try source.bytes(.quota), memberQuota: try source.bytes(.memberQuota),
            historyQuota: try source.bytes(.historyQuota),
            memberEntries: try source.number(.memberEntries, in: 1...Int64.max))
        history.entries = try source.number(.entries, in: 1...Int64.max, default: history.entries)
        history.unfinishedUploads = try source.number(
            .unfinishedUploads, in: 1...100_000, default: history.unfinishedUploads)
        return history
    }

    private static func certificate(_ source: SettingSource) throws(CommandFailure) -> CertificateFiles? {
        switch (source.text(.tlsCertificate), source.text(.tlsKey)) {
        case (let certificate?, let key?):
            for file in [certificate, key] where unsafe access(file, R_OK) != 0 {
                throw CommandFailure(
                    .configuration, "cannot read '\(file)': \(unsafe String(cString: strerror(errno)))")
            }
            return CertificateFiles(certificate: certificate, key: key)
        case (nil, nil): return nil
        default: throw CommandFailure(.configuration, "--tls-certificate and --tls-key must be given together")
        }
    }
}
