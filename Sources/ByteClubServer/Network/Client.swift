import HTTPTypes

/// Who sends a request and how it reached us: the peer of the connection, or what a trusted proxy says of its own.
struct Client: Hashable, Sendable {
    /// The client's address; nil when the connection has none.
    var address: IPAddress?
    /// Whether the client's own connection is encrypted.
    var isSecure: Bool
    /// The host that the client asked for, with a port when it named one.
    var host: String?

    /// Finds out who sends a request.
    ///
    /// The headers of a proxy count only when the connection comes from one that is trusted. Each proxy adds the
    /// address of its peer on the right, so the client is the rightmost address that is no trusted proxy.
    ///
    /// - Parameters:
    ///   - peer: The other end of the connection.
    ///   - isSecure: Whether the connection is encrypted.
    ///   - host: The request's own host.
    ///   - headers: The request's headers.
    ///   - trusted: The proxies that are believed.
    ///   - header: The header that they write; nil for whichever there is, if there is only one kind.
    init(
        peer: IPAddress?, isSecure: Bool, host: String?, headers: HTTPFields, trusting trusted: [AddressRange],
        by header: ProxyHeader? = nil
    ) {
        self.init(address: peer, isSecure: isSecure, host: host)
        guard !trusted.isEmpty, let peer, Self.isTrusted(peer, trusted) else { return }
        let hops = ForwardedHop.hops(in: headers, by: header)
        // An unreadable or hidden address ends the chain: what is left of it cannot be believed.
        var seen = hops.count
        for (index, hop) in hops.enumerated().reversed() {
            guard let address = hop.address else { break }
            self.address = address
            seen = index
            if !Self.isTrusted(address, trusted) { break }
        }
        let hop = seen < hops.count ? hops[seen] : hops.last
        if let scheme = hop?.scheme { self.isSecure = scheme == "https" }
        if let host = hop?.host { self.host = host }
    }

    private init(address: IPAddress?, isSecure: Bool, host: String?) {
        self.address = address
        self.isSecure = isSecure
        self.host = host
    }

    private static func isTrusted(_ address: IPAddress, _ trusted: [AddressRange]) -> Bool {
        trusted.contains { $0.contains(address) }
    }
}
