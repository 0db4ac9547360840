import Logging

/// What a server needs to know before it starts.
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
    /// The proxies whose word on the client is taken.
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
