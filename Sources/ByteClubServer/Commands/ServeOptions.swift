import ArgumentParser
import Logging

/// The flags of `serve`, each of which beats the environment and the settings file.
struct ServeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A YAML file of settings with the flags' names; default: BYTECLUB_SERVER_CONFIG.", valueName: "file"
        ))
    var config: String?
    @Option(
        help: ArgumentHelp("The directory of the club's data, created if missing.", valueName: "dir"))
    var data: String?
    @Option(help: "The club's name, as in 'Panorama Club'; else what an owner has set on the members' page.")
    var name: String?
    @Option(
        help: ArgumentHelp(
            "Where to listen, as HOST:PORT; port 0 picks a free one. (default: \(ClubConfiguration.defaultAddress))"))
    var listen: String?
    @Option(
        help: """
            A PEM file with the server's certificate chain; reloaded on SIGHUP, which stops a \
            server at a terminal.
            """)
    var tlsCertificate: String?
    @Option(help: "A PEM file with the certificate's private key.")
    var tlsKey: String?
    @Flag(
        inversion: .prefixedNo,
        help: "Create a certificate once, and store it with the data; links contain its key.")
    var tlsSelfSigned: Bool?
    @Option(help: "The URL at which members reach this server, as in https://club.example; links start with it.")
    var publicURL: String?
    @Flag(
        inversion: .prefixedNo,
        help: "Allow plain HTTP beyond this machine: tokens and files are readable on the way.")
    var insecureHTTP: Bool?
    @Option(
        help: ArgumentHelp(
            "Proxies whose X-Forwarded-For or Forwarded header is trusted, as in 127.0.0.1,10.0.0.0/8.",
            valueName: "addresses"))
    var trustedProxies: String?
    @Option(
        help: ArgumentHelp(
            "The header that these proxies set: forwarded or x-forwarded-for; if not given, requests with both "
                + "are not trusted.", valueName: "name"))
    var proxyHeader: String?
    @Option(help: "Serve /healthz and /metrics at HOST:PORT. (default: off)")
    var metricsListen: String?
    @Option(
        help: """
            trace, debug, info, notice, warning, error or critical; requests are at info, on a terminal at debug. \
            (default: info)
            """)
    var logLevel: String?
    @Option(help: "text, or json for one object per line. (default: text)")
    var logFormat: String?
    @Option(help: "Maximum number of connections, an eighth of them per address. (default: 2048)")
    var connections: String?
    @Option(help: ArgumentHelp("Timeout of idle connections. (default: 120)", valueName: "seconds"))
    var idleTimeout: String?
    @Option(help: ArgumentHelp("Timeout of a request's head. (default: 20)", valueName: "seconds"))
    var headTimeout: String?
    @Option(
        help: ArgumentHelp(
            "Disconnect clients that are too slow for this long. (default: 60)", valueName: "seconds"))
    var stallTimeout: String?
    @Option(help: ArgumentHelp("Minimum rate of a client, in bytes per second. (default: 64)", valueName: "rate"))
    var slowestClient: String?
    @Option(help: ArgumentHelp("Wait this long for requests at shutdown. (default: 15)", valueName: "seconds"))
    var drainTimeout: String?
    @Option(help: ArgumentHelp("Requests per second per member; 0 for no limit. (default: 5000)", valueName: "rate"))
    var memberRate: String?
    @Option(
        help: ArgumentHelp("Failed attempts per second per address; 0 for no limit. (default: 10)", valueName: "rate"))
    var attemptRate: String?
    @Option(
        help: ArgumentHelp(
            "Requests per second per address without an account; 0 for no limit. (default: 50)", valueName: "rate"))
    var anonymousRate: String?
    @Option(
        help: ArgumentHelp(
            "Keep versions this many days after they were replaced or deleted. (default: forever)",
            valueName: "days"))
    var keepHistory: String?
    @Option(help: ArgumentHelp("Maximum bytes of all files, as in 10G.", valueName: "bytes"))
    var quota: String?
    @Option(
        help: ArgumentHelp(
            "Maximum bytes of the files last written by one member.", valueName: "bytes"))
    var memberQuota: String?
    @Option(
        help: ArgumentHelp(
            "Maximum bytes of old versions by one member; the oldest beyond that are deleted.",
            valueName: "bytes"))
    var historyQuota: String?
    @Option(help: ArgumentHelp("Maximum number of files and folders. (default: 5000000)", valueName: "count"))
    var entries: String?
    @Option(
        help: ArgumentHelp(
            "Maximum number of files and folders last written by one member.", valueName: "count"))
    var memberEntries: String?
    @Option(help: ArgumentHelp("Maximum number of unfinished uploads per member. (default: 100)", valueName: "count"))
    var unfinishedUploads: String?
    @Option(
        help: ArgumentHelp(
            "The map service that photos link to: an https address with {latitude} and {longitude}, or off. "
                + "(default: OpenStreetMap)", valueName: "address"))
    var mapLink: String?
    @Flag(help: "Keep running when the terminal is closed (SIGHUP), as with nohup.")
    var stay = false
    @Option(help: ArgumentHelp("Seconds between two rounds of housekeeping; for tests.", visibility: .hidden))
    var housekeepingInterval: String?
    @Option(help: ArgumentHelp("The shortest long poll in seconds; lower values are for tests.", visibility: .hidden))
    var longpollMinimum: String?
    @Option(help: ArgumentHelp("The most bytes of one upload or chunk.", visibility: .hidden))
    var bodyLimit: String?

    /// The settings that the flags give.
    var flags: [SettingName: String] {
        let given: [(SettingName, String?)] = [
            (.data, data), (.name, name), (.listen, listen), (.tlsCertificate, tlsCertificate), (.tlsKey, tlsKey),
            (.tlsSelfSigned, tlsSelfSigned.map { "\($0)" }), (.publicURL, publicURL),
            (.insecureHTTP, insecureHTTP.map { "\($0)" }), (.trustedProxies, trustedProxies),
            (.proxyHeader, proxyHeader), (.metricsListen, metricsListen), (.logLevel, logLevel),
            (.logFormat, logFormat), (.connections, connections), (.idleTimeout, idleTimeout),
            (.headTimeout, headTimeout), (.stallTimeout, stallTimeout), (.slowestClient, slowestClient),
            (.drainTimeout, drainTimeout), (.memberRate, memberRate), (.attemptRate, attemptRate),
            (.anonymousRate, anonymousRate), (.longpollMinimum, longpollMinimum), (.bodyLimit, bodyLimit),
            (.keepHistory, keepHistory), (.quota, quota), (.memberQuota, memberQuota), (.historyQuota, historyQuota),
            (.entries, entries), (.memberEntries, memberEntries), (.unfinishedUploads, unfinishedUploads),
            (.housekeepingInterval, housekeepingInterval), (.mapLink, mapLink),
        ]
        return Dictionary(uniqueKeysWithValues: given.compactMap { name, text in text.map { (name, $0) } })
    }
}

/// The option that names a club's data directory.
struct DataOption: ParsableArguments {
    @Option(help: ArgumentHelp("The directory of the club's data.", valueName: "dir"))
    var data: String

    func validate() throws {
        if data.isEmpty { throw ValidationError("--data is empty; name the club's directory") }
    }

    /// Opens the club's data for administration, and closes it after the work; with `making` creates a missing
    /// directory.
    ///
    /// - Throws: ``StorageError``; errors of the work.
    func withStore<T>(making: Bool = false, _ work: (any ClubStore) async throws -> T) async throws -> T {
        let store = try DataDirectory(path: data).administer(
            making: making, logger: Logger(label: "storage") { _ in LineLog(level: .error) })
        let result = try await work(store)
        try store.close()
        return result
    }
}
