import HTTPTypes

/// One step of a request through a proxy, from `Forwarded` (RFC 7239) or the older `X-Forwarded-…` headers.
struct ForwardedHop: Hashable, Sendable {
    /// Where the proxy got the request from; nil when it does not say or hides it.
    var address: IPAddress?
    /// `http` or `https`, when the proxy says it.
    var scheme: String?
    /// The host that was asked for, when the proxy says it.
    var host: String?

    /// The steps in the order they were taken.
    ///
    /// What a proxy does not write it hands on as the client sent it. So of the two kinds of headers only the proxy's
    /// own count; when nobody says which that is and both are there, neither does.
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

    private init(address: IPAddress? = nil) {
        self.address = address
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
