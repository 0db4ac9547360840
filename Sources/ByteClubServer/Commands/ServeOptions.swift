import ArgumentParser

/// The flags of `serve`, each of which beats the environment and the settings file.
struct ServeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A YAML file of settings; else BYTECLUB_SERVER_CONFIG. Its names are those of the flags.", valueName: "file"
        ))
    var config: String?
    @Option(
        help: ArgumentHelp("The directory that holds the club's data; made when it is not there.", valueName: "dir"))
    var data: String?
    @Option(help: "The club's name, as in 'Panorama Club'; else what an owner has set on the members' page.")
    var name: String?
    @Option(
        help: ArgumentHelp(
            "Where to listen, as HOST:PORT; port 0 picks a free one. (default: \(ClubConfiguration.defaultAddress))"))
    var listen: String?
    @Option(
        help: """
            A PEM file with the server's certificate, and those that vouch for it; read again on SIGHUP, which ends a \
            server at a terminal.
            """)
    var tlsCertificate: String?
    @Option(help: "A PEM file with the certificate's private key.")
    var tlsKey: String?
    @Flag(
        inversion: .prefixedNo,
        help: "Make a certificate once, and keep it with the data; the links that the server makes hold its key.")
    var tlsSelfSigned: Bool?
    @Option(help: "The URL by which members find this server, as in https://club.example; links begin with it.")
    var publicURL: String?
    @Flag(
        inversion: .prefixedNo,
        help: "Allow plain HTTP beyond this machine: anybody on the way can read tokens and files.")
    var insecureHTTP: Bool?
    @Option(
        help: ArgumentHelp(
            "Proxies whose X-Forwarded-For or Forwarded header is believed, as in 127.0.0.1,10.0.0.0/8.",
            valueName: "addresses"))
    var trustedProxies: String?
    @Option(
        help: ArgumentHelp(
            "The header that these proxies write: forwarded or x-forwarded-for; when not given, no request with both "
                + "is believed.", valueName: "name"))
    var proxyHeader: String?
    @Option(help: "Where to serve /healthz and /metrics, as HOST:PORT; nowhere unless given.")
    var metricsListen: String?
    @Option(
        help: """
            trace, debug, info, notice, warning, error or critical; requests are at info, on a terminal at debug. \
            (default: info)
            """)
    var logLevel: String?
    @Option(help: "text, or json for an object a line. (default: text)")
    var logFormat: String?
    @Option(help: "The most connections at once, an eighth of them for one address. (default: 2048)")
    var connections: String?
    @Option(help: ArgumentHelp("How long a connection may be idle. (default: 120)", valueName: "seconds"))
    var idleTimeout: String?
    @Option(help: ArgumentHelp("How long a request's head may take. (default: 20)", valueName: "seconds"))
    var headTimeout: String?
    @Option(
        help: ArgumentHelp(
            "How long a client may be too slow before it is given up. (default: 60)", valueName: "seconds"))
    var stallTimeout: String?
    @Option(help: ArgumentHelp("What is too slow, in bytes a second. (default: 64)", valueName: "rate"))
    var slowestClient: String?
    @Option(help: ArgumentHelp("How long a shutdown waits for requests. (default: 15)", valueName: "seconds"))
    var drainTimeout: String?
    @Option(help: ArgumentHelp("Requests a second of one member; 0 for no limit. (default: 5000)", valueName: "rate"))
    var memberRate: String?
    @Option(
        help: ArgumentHelp("Failed attempts a second of one address; 0 for no limit. (default: 10)", valueName: "rate"))
    var attemptRate: String?
    @Option(
        help: ArgumentHelp(
            "Requests a second of one address without an account; 0 for no limit. (default: 50)", valueName: "rate"))
    var anonymousRate: String?
    @Option(
        help: ArgumentHelp(
            "For how many days a version is kept after it was replaced or deleted; without it for ever.",
            valueName: "days"))
    var keepHistory: String?
    @Option(help: ArgumentHelp("The most bytes that all files together may have, as in 10G.", valueName: "bytes"))
    var quota: String?
    @Option(
        help: ArgumentHelp(
            "The most bytes that the files may have which one member was the last to write.", valueName: "bytes"))
    var memberQuota: String?
    @Option(
        help: ArgumentHelp(
            "The most bytes of old versions that one member wrote; the oldest beyond that are forgotten.",
            valueName: "bytes"))
    var historyQuota: String?
    @Option(help: ArgumentHelp("The most files and folders. (default: 5000000)", valueName: "count"))
    var entries: String?
    @Option(
        help: ArgumentHelp(
            "The most files and folders that one member may have been the last to write.", valueName: "count"))
    var memberEntries: String?
    @Option(help: ArgumentHelp("The most unfinished uploads of one member. (default: 100)", valueName: "count"))
    var unfinishedUploads: String?
    @Flag(help: "Go on when the terminal is closed (SIGHUP), as under nohup.")
    var stay = false
    @Option(help: ArgumentHelp("Seconds between two rounds of housekeeping; for tests.", visibility: .hidden))
    var housekeepingInterval: String?
    @Option(help: ArgumentHelp("The shortest long poll in seconds; lower values are for tests.", visibility: .hidden))
    var longpollMinimum: String?
    @Option(help: ArgumentHelp("The most bytes of one upload or chunk.", visibility: .hidden))
    var bodyLimit: String?

    /// What the flags set.
    var flags: [SettingName: String] {
        let given: [(SettingName, String?)] = [
            (.data, data), (.clubName, name), (.listen, listen), (.tlsCertificate, tlsCertificate), (.tlsKey, tlsKey),
            (.tlsSelfSigned, tlsSelfSigned.map { "\($0)" }),
            (.publicURL, publicURL), (.insecureHTTP, insecureHTTP.map { "\($0)" }), (.trustedProxies, trustedProxies),
            (.proxyHeader, proxyHeader), (.metricsListen, metricsListen), (.logLevel, logLevel),
            (.logFormat, logFormat),
            (.connections, connections),
            (.idleTimeout, idleTimeout), (.headTimeout, headTimeout), (.stallTimeout, stallTimeout),
            (.slowestClient, slowestClient), (.drainTimeout, drainTimeout), (.memberRate, memberRate),
            (.attemptRate, attemptRate), (.anonymousRate, anonymousRate), (.longpollMinimum, longpollMinimum),
            (.bodyLimit, bodyLimit),
            (.keepHistory, keepHistory), (.quota, quota), (.memberQuota, memberQuota),
            (.historyQuota, historyQuota), (.entries, entries), (.memberEntries, memberEntries),
            (.unfinishedUploads, unfinishedUploads), (.housekeepingInterval, housekeepingInterval),
        ]
        return Dictionary(uniqueKeysWithValues: given.compactMap { name, text in text.map { (name, $0) } })
    }
}
