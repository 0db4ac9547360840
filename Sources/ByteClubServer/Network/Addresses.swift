import Glibc
import NIOCore

/// Where a server listens: a host and a port, as in `127.0.0.1:8080`, `localhost:0` and `[::1]:8080`.
struct ListenAddress: Hashable, Sendable {
    /// A name or an address, without brackets.
    let host: String
    /// The port; 0 lets the system choose.
    let port: Int

    /// Reads `HOST:PORT`; nil when the text is anything else.
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.first == "[", host.last == "]" {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        if host.isEmpty { return nil }
        self.host = String(host)
        self.port = Int(port)
    }

    /// Whether only programs on this machine can reach it.
    var isLoopback: Bool {
        host == "localhost" || host == "::1"
            || (host.hasPrefix("127.") && host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (48...57).contains($0) })
    }

    /// The failure to listen here; an error of the system or of name resolution is reported with the address.
    func failure(_ error: any Error) -> any Error {
        let reason: String
        switch error {
        case let error as IOError where error.errnoCode == EADDRINUSE: reason = "the port is in use by another program"
        case let error as IOError: reason = unsafe String(cString: strerror(error.errnoCode))
        case is SocketAddressError, is SocketAddressError.UnknownHost: reason = "no such host"
        default: return error
        }
        return CommandFailure(.unavailable, "cannot listen on '\(authority(port: port))': \(reason)")
    }

    /// The URL's part between `//` and the path, with the port that was given in the end.
    func authority(port: Int) -> String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
}

/// The address at which members reach a club's server, with which links to people start.
struct ClubAddress: Hashable, Sendable {
    private static let mark = "#sha256="

    /// The URL, without a slash at its end.
    let url: String
    /// The URL's host, with the brackets of an IPv6 address.
    let host: String
    /// The SHA-256 of the server's public key, in the Base64 of addresses; nil where authorities vouch for the server.
    let pin: String?

    /// Parses a URL, with or without a pin after it; nil when the text is no URL, names every address of a machine
    /// (`0.0.0.0`, `[::]`), or has a character that ends a link in a text.
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

    /// A URL with a pin after it, in the fragment, which browsers do not send to a server.
    static func text(_ url: String, pin: String?) -> String { url + (pin.map { mark + $0 } ?? "") }

    /// The link to join with.
    func invitation(_ secret: String) -> String { Self.text("\(url)/invite/\(secret)", pin: pin) }

    /// The link with which a member sets a new password, in a browser alone.
    func reset(_ secret: String) -> String { "\(url)/reset/\(secret)" }

    /// The argument of `byteclub login`.
    var login: String { Self.text(url, pin: pin) }
}
