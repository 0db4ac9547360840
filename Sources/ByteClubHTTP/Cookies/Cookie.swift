/// A cookie as a server set it (RFC 6265 section 5.3).
public struct Cookie: Sendable, Hashable {
    /// On requests from which other sites a browser would send it; kept, without effect here: there is no page.
    public enum SameSite: String, Sendable, Hashable {
        /// From any site.
        case none
        /// From the site itself, and when somebody follows a link there.
        case lax
        /// From the site itself alone.
        case strict
    }

    /// Its name.
    public let name: String

    /// Its value, with the quotes that the server may have put around it.
    public let value: String

    /// The host, in lower case, or the domain whose hosts it is sent to.
    public let domain: String

    /// Whether it is sent to the host ``domain`` alone, and not to those below it.
    public let isHostOnly: Bool

    /// The path under which it is sent.
    public let path: String

    /// Whether it is sent over https alone.
    public let isSecure: Bool

    /// Whether scripts of a page may not see it; without effect here.
    public let isHTTPOnly: Bool

    /// What the server said of other sites, or nil.
    public let sameSite: SameSite?

    /// When it ends, in seconds since 1970; nil when it ends with the store, and is never written to disk.
    public let expires: Int64?

    /// Whether a request to an address carries it (RFC 6265 section 5.4, step 1).
    func applies(to url: RequestURL) -> Bool {
        guard !isSecure || url.origin.scheme == .https else { return false }
        return (isHostOnly ? url.origin.host == domain : Self.host(url.origin.host, isWithin: domain))
            && Self.path(url.path, isUnder: path)
    }

    func isExpired(at now: Int64) -> Bool { expires.map { $0 <= now } ?? false }

    /// Whether both have the same place in a store: what is set later replaces the other.
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
