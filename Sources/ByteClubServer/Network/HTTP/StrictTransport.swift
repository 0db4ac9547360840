/// Tells browsers to come back over TLS alone (RFC 6797): whoever is on the way of a later visit cannot keep it plain.
enum StrictTransport {
    /// The header's value: for a year, for this host and not for others below it.
    static let policy = "max-age=31536000"
}
