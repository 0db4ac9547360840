/// A proxy server.
public struct ProxyServer: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    /// The protocol between client and proxy.
    public enum Kind: String, Sendable, Hashable {
        /// HTTP; https requests use a tunnel (CONNECT).
        case http
        /// The same over TLS.
        case https
        /// SOCKS 4; names are looked up here.
        case socks4
        /// SOCKS 4a; the proxy looks names up.
        case socks4a
        /// SOCKS 5; names are looked up here.
        case socks5
        /// SOCKS 5; the proxy looks names up.
        case socks5h
    }

    /// The protocol between client and proxy.
    public let kind: Kind

    /// The host; IPv6 addresses in brackets.
    public let host: String

    /// The port.
    public let port: Int

    /// The user name, or nil.
    public let user: String?

    let password: String?

    /// Parses a URL such as `http://user:password@proxy.example:3128`; nil if it is invalid.
    ///
    /// The scheme defaults to http, and the port to 1080, or 443 for https, as in libcurl. User and password are
    /// percent-encoded. A path is ignored.
    public init?(_ url: String) {
        var rest = url[...]
        var kind = Kind.http
        if let mark = rest.firstRange(of: "://") {
            let scheme = rest[..<mark.lowerBound].lowercased()
            guard let named = Kind(rawValue: scheme == "socks" ? "socks4" : scheme) else { return nil }
            kind = named
            rest = rest[mark.upperBound...]
        }
        rest = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        var (user, password): (String?, String?)
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first.flatMap({ String(percentDecoding: $0) }) else { return nil }
            user = name
            if parts.count > 1 {
                password = String(percentDecoding: parts[1])
                if password == nil { return nil }
            }
            rest = rest[rest.index(after: at)...]
        }
        guard let origin = Origin(scheme: .https, authority: String(rest)) else { return nil }
        self.kind = kind
        host = origin.host
        let isPortGiven = rest.last != "]" && rest.contains(":")
        port = isPortGiven ? origin.port : kind == .https ? 443 : 1080
        self.user = user
        self.password = password
    }

    /// The address without user and password.
    public var description: String { "\(kind.rawValue)://\(host):\(port)" }

    /// The same.
    public var debugDescription: String { description }

    /// The address without user and password.
    public var customMirror: Mirror { Mirror(self, children: ["url": description]) }
}

/// The proxy of a transfer, as error messages name it.
struct NamedProxy: CustomStringConvertible {
    /// The status by which a proxy requires authentication.
    static let authenticationRequired = 407

    /// The authentication schemes of a proxy, by libcurl's bits.
    private static let kinds = [(basic, "Basic"), (digest, "Digest"), (4, "Negotiate"), (8, "NTLM")]
    static let basic = 1
    static let digest = 2

    let server: ProxyServer
    /// The environment variable that defines it; nil if the program does.
    let variable: String?

    /// The proxy's address without secrets, and the variable that defines it.
    var description: String { "the proxy \(server)" + (variable.map { ", which \($0) names," } ?? "") }

    /// Describes why the proxy refused a transfer.
    ///
    /// - Parameters:
    ///   - status: Its answer.
    ///   - offers: The authentication schemes that it accepts, in libcurl's bits.
    ///   - isLoginSent: Whether a challenge of the proxy was answered.
    /// - Returns: A part of a sentence, without secrets.
    func refusal(_ status: Int, offers: Int, isLoginSent: Bool = false) -> String {
        guard status == Self.authenticationRequired else { return "\(self) answered \(status)" }
        let kinds = Self.kinds.filter { offers & $0.0 != 0 }.map(\.1).joined(separator: ", ")
        let wish =
            server.user == nil && !isLoginSent
            ? "wants a user name and a password" : "does not take its user name and password"
        return "\(self) \(wish)" + (kinds.isEmpty ? "" : " (\(kinds))")
    }
}
