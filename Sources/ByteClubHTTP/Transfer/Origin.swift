/// A scheme, host and port: what credentials and connections belong to.
struct Origin: Hashable, Sendable {
    enum Scheme: String, Sendable {
        case http, https

        var defaultPort: Int { self == .https ? 443 : 80 }
    }

    var scheme: Scheme
    /// Lower case; IPv6 addresses keep their brackets.
    var host: String
    var port: Int

    /// Host and port, the port only where it is not the scheme's own.
    var authority: String { port == scheme.defaultPort ? host : host + ":" + String(port) }

    /// The origin as it begins an address.
    var text: String { (scheme == .https ? "https://" : "http://") + authority }

    /// Whether the host is this machine, as far as its name tells.
    var isLoopback: Bool { host == "localhost" || host == "[::1]" || host.hasPrefix("127.") }
}
