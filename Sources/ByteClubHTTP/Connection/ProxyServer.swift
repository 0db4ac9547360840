/// A server that requests go through.
public struct ProxyServer: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    /// How it is spoken to.
    public enum Kind: String, Sendable, Hashable {
        /// HTTP; requests for https go through a tunnel (CONNECT).
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

    /// How it is spoken to.
    public let kind: Kind

    /// Its host; IPv6 addresses in brackets.
    public let host: String

    /// Its port.
    public let port: Int

    /// Who to sign in as, or nil.
    public let user: String?

    let password: Passphrase?
    private let secret: String?

    /// Reads an address such as `http://user:password@proxy.example:3128`; nil if it is none.
    ///
    /// Without a scheme it is an HTTP proxy, without a port its own is 1080, or 443 for https, as for libcurl. User and
    /// password are percent-encoded. A path is passed over.
    public init?(_ url: String) {
        var rest = url[...]
        var kind = Kind.http
        if let mark = Self.range(of: "://", in: rest) {
            let scheme = rest[..<mark.lowerBound].lowercased()
            guard let named = Kind(rawValue: scheme == "socks" ? "socks4" : scheme) else { return nil }
            kind = named
            rest = rest[mark.upperBound...]
        }
        rest = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        var (user, secret): (String?, String?)
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first.flatMap(Self.decoded) else { return nil }
            user = name
            if parts.count > 1 {
                guard let password = Self.decoded(parts[1]) else { return nil }
                secret = password
            }
            rest = rest[rest.index(after: at)...]
        }
        guard let origin = Origin(scheme: .https, authority: String(rest)) else { return nil }
        self.kind = kind
        host = origin.host
        let isPortGiven = rest.last != "]" && rest.contains(":")
        port = isPortGiven ? origin.port : kind == .https ? 443 : 1080
        self.user = user
        self.secret = secret
        password = secret.map { Passphrase($0) }
    }

    /// The address without user and password.
    public var description: String { "\(kind.rawValue)://\(host):\(port)" }

    /// The same.
    public var debugDescription: String { description }

    /// The address without user and password.
    public var customMirror: Mirror { Mirror(self, children: ["url": description]) }

    /// Whether both are the same server with the same credentials.
    public static func == (left: ProxyServer, right: ProxyServer) -> Bool {
        left.description == right.description && left.user == right.user && left.secret == right.secret
    }

    /// Feeds what equal servers have in common.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(description)
        hasher.combine(user)
    }

    private static func range(of mark: String, in text: Substring) -> Range<Substring.Index>? {
        text.firstRange(of: mark)
    }

    /// Percent-decodes; nil where that leaves no text, or one with control characters.
    private static func decoded(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
