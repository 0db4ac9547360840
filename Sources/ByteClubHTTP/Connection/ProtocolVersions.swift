/// A version of TLS.
public enum TLSVersion: Int, Sendable, Hashable, Comparable {
    /// TLS 1.2 (RFC 5246).
    case v12 = 12
    /// TLS 1.3 (RFC 8446).
    case v13 = 13

    /// Whether one version is older than the other.
    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }
}

/// Which version of HTTP a session speaks.
public enum HTTPVersionPreference: Sendable, Hashable {
    /// HTTP/2 over https where the server offers it and it does not cost more than it brings: not for uploads with a
    /// libcurl before 8.2, nor under a rate limit.
    case automatic
    /// HTTP/1.1 alone.
    case http1
    /// HTTP/2 over https wherever the server offers it.
    case http2
}
