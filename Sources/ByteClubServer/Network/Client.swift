import HTTPTypes

/// The sender of a request: the peer of the connection, or the client that a trusted proxy names.
struct Client: Hashable, Sendable {
    /// The client's address; nil when the connection has none.
    var address: IPAddress?
    /// Whether the client's own connection is encrypted.
    var isSecure: Bool
    /// The host that the client asked for, with a port when it named one.
    var host: String?
}

extension Client {
    /// Determines the sender of a request.
    ///
    /// The headers of a proxy count only when the connection comes from one that is trusted. Each proxy adds the
    /// address of its peer on the right, so the client is the rightmost address that is no trusted proxy.
    ///
    /// - Parameters:
    ///   - peer: The other end of the connection.
    ///   - isSecure: Whether the connection is encrypted.
    ///   - host: The request's own host.
    ///   - headers: The request's headers.
    ///   - trusted: The trusted proxies.
    ///   - header: The header that they write; when nil, the kind that the request has, unless it has both.
    init(
        peer: IPAddress?, isSecure: Bool, host: String?, headers: HTTPFields, trusting trusted: [AddressRange],
        by header: ProxyHeader? = nil
    ) {
        self.init(address: peer, isSecure: isSecure, host: host)
        guard !trusted.isEmpty, let peer, Self.isTrusted(peer, trusted) else { return }
        let hops = ForwardedHop.hops(in: headers, by: header)
        // An unreadable or hidden address ends the chain: addresses before it cannot be trusted.
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

    private static func isTrusted(_ address: IPAddress, _ trusted: [AddressRange]) -> Bool {
        trusted.contains { $0.contains(address) }
    }
}

/// The header in which a proxy names its client.
enum ProxyHeader: String, CaseIterable, Sendable {
    /// `Forwarded` (RFC 7239).
    case forwarded
    /// `X-Forwarded-For`, with `X-Forwarded-Proto` and `X-Forwarded-Host`.
    case xForwardedFor = "x-forwarded-for"

    /// The header of a request that has one kind alone; nil when it has none, or both.
    static func only(in headers: HTTPFields) -> ProxyHeader? {
        let isStandard = headers.contains(.forwarded)
        let isOlder = [HTTPField.Name.forwardedFor, .forwardedProto, .forwardedHost].contains { headers.contains($0) }
        return isStandard == isOlder ? nil : isStandard ? .forwarded : .xForwardedFor
    }
}

/// One step of a request through a proxy, from `Forwarded` (RFC 7239) or the older `X-Forwarded-…` headers.
struct ForwardedHop: Hashable, Sendable {
    /// Where the proxy got the request from; nil when it does not say or hides it.
    var address: IPAddress?
    /// `http` or `https`; nil when the proxy does not set it.
    var scheme: String?
    /// The requested host; nil when the proxy does not set it.
    var host: String?
}

extension ForwardedHop {
    /// The hops in their order.
    ///
    /// A proxy forwards headers that it does not write as the client sent them. So only the kind of header that the
    /// proxy writes counts; when that is not known and both are there, neither counts.
    static func hops(in headers: HTTPFields, by header: ProxyHeader?) -> [ForwardedHop] {
        switch header ?? ProxyHeader.only(in: headers) {
        case .forwarded: headers[values: .forwarded].flatMap(HeaderList.quoted).map(ForwardedHop.init(element:))
        case .xForwardedFor: olderHops(in: headers)
        case nil: []
        }
    }

    private static func olderHops(in headers: HTTPFields) -> [ForwardedHop] {
        var hops = elements(headers, .forwardedFor).map { ForwardedHop(address: address(in: $0)) }
        if hops.isEmpty { hops = [ForwardedHop()] }
        // One proxy writes one value of these; with several, the last belongs to the last proxy.
        let scheme = elements(headers, .forwardedProto).last.flatMap { Self.scheme($0) }
        let host = elements(headers, .forwardedHost).last.flatMap { Self.host($0) }
        for index in hops.indices {
            hops[index].scheme = scheme
            hops[index].host = host
        }
        return hops
    }

    private init(element: Substring) {
        let values = HeaderParameters(";" + element)
        address = values["for"].flatMap { Self.address(in: $0) }
        scheme = values["proto"].flatMap { Self.scheme($0) }
        host = values["host"].flatMap { Self.host($0) }
    }

    private static func elements(_ headers: HTTPFields, _ name: HTTPField.Name) -> [Substring] {
        headers[values: name].flatMap(HeaderList.plain)
    }

    /// `203.0.113.7`, `203.0.113.7:1234`, `2001:db8::1`, `[2001:db8::1]` and `[2001:db8::1]:1234`.
    private static func address(in text: some StringProtocol) -> IPAddress? {
        if let address = IPAddress(text) { return address }
        guard let colon = text.lastIndex(of: ":"), UInt16(text[text.index(after: colon)...]) != nil else { return nil }
        return IPAddress(text[..<colon])
    }

    private static func scheme(_ text: some StringProtocol) -> String? {
        let scheme = text.lowercased()
        return scheme == "http" || scheme == "https" ? scheme : nil
    }

    private static func host(_ text: some StringProtocol) -> String? {
        HostName.isValid(text) ? String(text) : nil
    }
}

extension HTTPField.Name {
    static let forwarded = known("Forwarded")
    static let forwardedFor = known("X-Forwarded-For")
    static let forwardedProto = known("X-Forwarded-Proto")
    static let forwardedHost = known("X-Forwarded-Host")
}
