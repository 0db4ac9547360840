/// Where members reach a club's server: what the links that are sent to people begin with.
struct ClubAddress: Hashable, Sendable {
    private static let mark = "#sha256="

    /// The URL, without a slash at its end.
    let url: String
    /// The URL's host, with the brackets of an IPv6 address.
    let host: String
    /// The SHA-256 of the server's public key, in the Base64 of addresses; nil where authorities vouch for the server.
    let pin: String?

    /// Takes a URL, behind which a pin may stand; nil when it is none, or names every address of a machine (`0.0.0.0`,
    /// `[::]`) and so none to go to, or holds what ends a link in a text.
    init?(_ text: String, pin: String? = nil) {
        let (text, given) = Self.parts(of: text)
        guard let scheme = ["https://", "http://"].first(where: text.lowercased().hasPrefix) else { return nil }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
        let authority = text.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
        let host = authority.first == "[" ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        if host.isEmpty || IPAddress(String(host))?.isUnspecified == true { return nil }
        self.host = String(host)
        url = text.hasSuffix("/") ? String(text.dropLast()) : text
        self.pin = pin ?? given
    }

    /// A URL and the pin behind it.
    static func parts(of text: String) -> (url: String, pin: String?) {
        guard let mark = text.firstRange(of: Self.mark) else { return (text, nil) }
        return (String(text[..<mark.lowerBound]), String(text[mark.upperBound...]))
    }

    /// A URL with a pin behind it, where no server sees it: browsers keep what follows a hash sign to themselves.
    static func text(_ url: String, pin: String?) -> String { url + (pin.map { mark + $0 } ?? "") }

    /// The link with which somebody joins.
    func invitation(_ secret: String) -> String { Self.text("\(url)/invite/\(secret)", pin: pin) }

    /// The link with which a member sets a new password, in a browser alone.
    func reset(_ secret: String) -> String { "\(url)/reset/\(secret)" }

    /// What follows `byteclub login`.
    var login: String { Self.text(url, pin: pin) }
}
