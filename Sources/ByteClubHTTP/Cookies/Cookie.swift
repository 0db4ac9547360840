/// A cookie as a server set it (RFC 6265 section 5.3).
public struct Cookie: Sendable, Hashable {
    /// From which sites a browser would send the cookie; stored without effect, since there are no pages.
    enum SameSite: String, Sendable, Hashable {
        /// From any site.
        case none
        /// From the site itself, and when a link leads there.
        case lax
        /// Only from the site itself.
        case strict
    }

    /// The name.
    public let name: String

    /// The value, including quotation marks that the server sent.
    public let value: String

    /// The host in lower case, or the domain to whose hosts it is sent.
    public let domain: String

    /// Whether the cookie is sent only to the host ``domain`` and not to its subdomains.
    let isHostOnly: Bool

    /// The path under which it is sent.
    public let path: String

    /// Whether it is sent only over https.
    let isSecure: Bool

    /// Whether scripts cannot read it; without effect here.
    let isHTTPOnly: Bool

    /// The `SameSite` attribute, or nil.
    let sameSite: SameSite?

    /// When it expires, in seconds since 1970; nil for a session cookie, which is never written to disk.
    public let expires: Int64?

    /// Whether it is sent with a request to a URL (RFC 6265 section 5.4, step 1).
    func applies(to url: RequestURL) -> Bool {
        guard !isSecure || url.origin.scheme == .https else { return false }
        return (isHostOnly ? url.origin.host == domain : Self.host(url.origin.host, isWithin: domain))
            && Self.path(url.path, isUnder: path)
    }

    func isExpired(at now: Int64) -> Bool { expires.map { $0 <= now } ?? false }

    /// Whether a cookie that is set later replaces the other one.
    func hasSamePlace(as other: Cookie) -> Bool {
        name == other.name && domain == other.domain && path == other.path && isHostOnly == other.isHostOnly
    }

    /// Domain matching (RFC 6265 section 5.1.3); both in lower case.
    static func host(_ host: String, isWithin domain: String) -> Bool {
        if host == domain { return true }
        return host.hasSuffix("." + domain) && !isAddress(host)
    }

    /// Path matching (RFC 6265 section 5.1.4).
    static func path(_ path: String, isUnder prefix: String) -> Bool {
        guard path.utf8.starts(with: prefix.utf8) else { return false }
        return prefix.utf8.count == path.utf8.count || prefix.utf8.last == UInt8(ascii: "/")
            || path.utf8.dropFirst(prefix.utf8.count).first == UInt8(ascii: "/")
    }

    /// Whether a host is an IP address rather than a name.
    static func isAddress(_ host: String) -> Bool {
        host.hasPrefix("[") || host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
    }
}

extension RequestURL {
    /// The path without the query.
    var path: String { String(target.prefix { $0 != "?" }) }
}
