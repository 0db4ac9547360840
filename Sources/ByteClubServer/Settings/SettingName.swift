/// What an operator may set: in the file under this name, as a flag of this name, and in the environment as
/// `BYTECLUB_SERVER_` with the name in capitals.
enum SettingName: String, CaseIterable, Sendable {
    case data
    case clubName = "name"
    case listen
    case publicURL = "public-url"
    case tlsCertificate = "tls-certificate"
    case tlsKey = "tls-key"
    case tlsSelfSigned = "tls-self-signed"
    case insecureHTTP = "insecure-http"
    case trustedProxies = "trusted-proxies"
    case proxyHeader = "proxy-header"
    case metricsListen = "metrics-listen"
    case logLevel = "log-level"
    case logFormat = "log-format"
    case connections
    case idleTimeout = "idle-timeout"
    case headTimeout = "head-timeout"
    case stallTimeout = "stall-timeout"
    case slowestClient = "slowest-client"
    case drainTimeout = "drain-timeout"
    case memberRate = "member-rate"
    case attemptRate = "attempt-rate"
    case anonymousRate = "anonymous-rate"
    case keepHistory = "keep-history"
    case quota
    case memberQuota = "member-quota"
    case historyQuota = "history-quota"
    case entries
    case memberEntries = "member-entries"
    case unfinishedUploads = "unfinished-uploads"
    case housekeepingInterval = "housekeeping-interval"
    case bodyLimit = "body-limit"
    case longpollMinimum = "longpoll-minimum"

    /// What the environment's variables begin with.
    static let variablePrefix = "BYTECLUB_SERVER_"
    /// The variable that names the settings file.
    static let fileVariable = variablePrefix + "CONFIG"

    private static let byVariable = Dictionary(uniqueKeysWithValues: allCases.map { ($0.variable, $0) })

    /// The setting of an environment variable.
    init?(variable: String) {
        guard let name = Self.byVariable[variable] else { return nil }
        self = name
    }

    /// The environment variable.
    var variable: String { Self.variablePrefix + rawValue.uppercased().split(separator: "-").joined(separator: "_") }
}
