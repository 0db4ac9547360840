import Glibc
public import HTTPTypes

/// The proxy that a session uses.
///
/// Requests to the loopback interface (`localhost`, `127.0.0.0/8`, `::1`) never use a proxy.
public enum ProxySettings: Sendable, Hashable {
    /// The proxies of the environment variables `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy`, read when the
    /// session is created.
    ///
    /// As in curl, names may be in lower or upper case, and lower case wins; `http_proxy` must be in lower case, since
    /// the caller of a CGI program controls `HTTP_PROXY`.
    case environment
    /// No proxy.
    case none
    /// This proxy, except for the hosts in `except`: host names, domains with their subdomains, IP addresses, networks
    /// such as `10.0.0.0/8`, or `*` for all.
    case server(ProxyServer, except: [String] = [])

    /// The proxy that a request would use if it were sent now; nil for none.
    ///
    /// - Parameter request: The request; only its address matters.
    /// - Returns: The proxy, or nil.
    /// - Throws: ``TransferError/Code/badConfiguration`` if an environment variable holds an invalid proxy,
    ///   ``TransferError/Code/badRequest`` if the address cannot be used.
    public func server(for request: HTTPRequest) throws(TransferError) -> ProxyServer? {
        let url = try RequestURL(request)
        return try rules().server(for: url.origin)
    }

    /// Resolves the settings, reading the environment if they refer to it.
    ///
    /// - Throws: ``TransferError/Code/badConfiguration`` for a variable with an invalid proxy.
    func rules(_ variable: (String) -> String? = ProxyRules.variable) throws(TransferError) -> ProxyRules {
        switch self {
        case .environment: try ProxyRules(environment: variable)
        case .none: ProxyRules(http: nil, https: nil, except: [])
        case .server(let server, let except): ProxyRules(http: server, https: server, except: except)
        }
    }
}

/// The proxy for each scheme, and the exceptions.
struct ProxyRules: Sendable, Hashable {
    var http: ProxyServer?
    var https: ProxyServer?
    var except: [String]
    /// The environment variable that defines the proxy for http; nil if the program does.
    var httpVariable: String?
    /// The same for https.
    var httpsVariable: String?

    /// The proxy for an origin with its environment variable; nil for none.
    func namedServer(for origin: Origin) -> NamedProxy? {
        server(for: origin).map {
            NamedProxy(server: $0, variable: origin.scheme == .https ? httpsVariable : httpVariable)
        }
    }

    /// The proxy for an origin; nil for none.
    func server(for origin: Origin) -> ProxyServer? {
        guard let server = origin.scheme == .https ? https : http, !origin.isLoopback else { return nil }
        return except.contains { Self.matches(origin.host, $0) } ? nil : server
    }

    static func variable(_ name: String) -> String? { unsafe getenv(name).map { unsafe String(cString: $0) } }

    /// Whether an entry of the exception list matches a host.
    static func matches(_ host: String, _ entry: String) -> Bool {
        var entry = entry.lowercased()[...]
        if entry == "*" { return true }
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        if let address = IPAddress.bytes(bare) {
            if entry.hasPrefix("["), entry.hasSuffix("]") { entry = entry.dropFirst().dropLast() }
            let parts = entry.split(separator: "/", omittingEmptySubsequences: false)
            guard let first = parts.first, let network = IPAddress.bytes(String(first)), network.count == address.count
            else { return false }
            if parts.count == 1 { return network == address }
            guard parts.count == 2, let bits = Int(parts[1]), (0...(network.count * 8)).contains(bits) else {
                return false
            }
            return (0..<bits).allSatisfy { bit in
                let mask = UInt8(0x80) >> UInt8(bit % 8)
                return network[bit / 8] & mask == address[bit / 8] & mask
            }
        }
        while entry.hasPrefix(".") { entry = entry.dropFirst() }
        if entry.hasSuffix(".") { entry = entry.dropLast() }
        let name = bare.hasSuffix(".") ? bare.dropLast() : bare[...]
        return !entry.isEmpty && (name == entry || name.hasSuffix("." + entry))
    }
}

extension ProxyRules {
    init(environment variable: (String) -> String?) throws(TransferError) {
        func server(_ names: [String]) throws(TransferError) -> (ProxyServer?, name: String?) {
            for name in names {
                guard let text = variable(name), !text.isEmpty else { continue }
                guard let server = ProxyServer(text) else {
                    throw TransferError(
                        .badConfiguration, "the environment variable \(name) does not name a proxy; correct or unset it"
                    )
                }
                return (server, name)
            }
            return (nil, nil)
        }
        let all = ["all_proxy", "ALL_PROXY"]
        (http, httpVariable) = try server(["http_proxy"] + all)
        (https, httpsVariable) = try server(["https_proxy", "HTTPS_PROXY"] + all)
        let list = variable("no_proxy") ?? variable("NO_PROXY") ?? ""
        except = list.split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init)
    }
}
