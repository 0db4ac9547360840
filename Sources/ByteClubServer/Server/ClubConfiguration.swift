/// What a server needs to know before it starts.
struct ClubConfiguration: Sendable {
    /// The certificate chain and its key, as PEM files.
    struct CertificateFiles: Sendable {
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
    /// Limits and names that calls depend on.
    var settings = ClubAPI.Settings()
}
