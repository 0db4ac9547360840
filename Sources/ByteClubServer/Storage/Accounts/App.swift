import ByteClubCore

/// A program that may ask members for access.
struct App: Hashable, Sendable {
    /// The name of the app that `members add --oauth1` makes keys for.
    static let oauth1Name = "OAuth 1 programs"

    /// The app's public name on the wire.
    let key: String
    /// The app's secret; nil for programs that everybody can read, which prove themselves by PKCE.
    let secret: String?
    /// The name shown to members.
    let name: String
    /// Where members may be sent back to.
    let redirects: [String]

    /// ByteClub's own command line, which needs no registration.
    static let byteclub = App(key: "byteclub", secret: nil, name: "ByteClub", redirects: ["http://127.0.0.1/"])

    /// Whether members may be sent to a URL: a registered one, on loopback with any port (RFC 8252 section 7.3).
    func allows(redirect: String) -> Bool {
        redirects.contains(redirect) || redirects.contains { Self.loopback($0) == Self.loopback(redirect) ?? "" }
    }

    /// Whether a URL can be registered: https, or http on loopback, without a fragment.
    static func mayRegister(redirect: String) -> Bool {
        let isPlain = redirect.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
        return isPlain && (redirect.hasPrefix("https://") && redirect.utf8.count > 8 || loopback(redirect) != nil)
    }

    /// A loopback URL without its port; nil for any other URL.
    private static func loopback(_ url: String) -> String? {
        for host in ["http://127.0.0.1", "http://[::1]", "http://localhost"] where url.hasPrefix(host) {
            let rest = url.dropFirst(host.count)
            guard rest.first == ":" else { return rest.isEmpty || rest.first == "/" ? url : nil }
            let path = rest.dropFirst().drop { $0.isASCII && $0.isNumber }
            return path.isEmpty || path.first == "/" ? host + path : nil
        }
        return nil
    }
}
