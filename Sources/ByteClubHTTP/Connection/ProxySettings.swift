import Glibc
public import HTTPTypes

/// Which proxy a session's requests go through.
///
/// This machine itself (`localhost`, `127.0.0.0/8`, `::1`) is never asked for through a proxy.
public enum ProxySettings: Sendable, Hashable {
    /// What `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy` in the environment say when the session is made.
    ///
    /// As with curl: names in lower or upper case, lower case first, but `http_proxy` in lower case alone, since a CGI
    /// program's caller chooses `HTTP_PROXY`.
    case environment
    /// None.
    case none
    /// This one, but for what `except` lists: hosts, domains with all below them, IP addresses, and networks such as
    /// `10.0.0.0/8`; `*` for all.
    case server(ProxyServer, except: [String] = [])

    /// The proxy that a request would go through, if it was sent now; nil for none.
    ///
    /// - Parameter request: Only its address is looked at.
    /// - Returns: The proxy, or nil.
    /// - Throws: ``TransferError/Code/badConfiguration`` when a variable of the environment names a proxy that is none,
    ///   ``TransferError/Code/badRequest`` when the address cannot be used.
    public func server(for request: HTTPRequest) throws(TransferError) -> ProxyServer? {
        let url = try RequestURL(request)
        return try rules().server(for: url.origin)
    }

    /// The settings with the environment read.
    ///
    /// - Parameter variable: The value of a variable of the environment.
    /// - Returns: What holds for each address.
    /// - Throws: ``TransferError/Code/badConfiguration`` for a variable that names no proxy.
    func rules(_ variable: (String) -> String? = ProxyRules.variable) throws(TransferError) -> ProxyRules {
        switch self {
        case .environment: try ProxyRules(environment: variable)
        case .none: ProxyRules(http: nil, https: nil, except: [])
        case .server(let server, let except): ProxyRules(http: server, https: server, except: except)
        }
    }
}

/// The proxies for each scheme, and what goes without.
struct ProxyRules: Sendable, Hashable {
    var http: ProxyServer?
    var https: ProxyServer?
    var except: [String]
    /// The variable of the environment that names the proxy for http; nil when a program does.
    var httpVariable: String?
    /// The same for https.
    var httpsVariable: String?

    /// The proxy for an origin, and the variable that names it; nil for none.
    func namedServer(for origin: Origin) -> NamedProxy? {
        server(for: origin).map { NamedProxy($0, by: origin.scheme == .https ? httpsVariable : httpVariable) }
    }

    /// The proxy for an origin; nil for none.
    func server(for origin: Origin) -> ProxyServer? {
        guard let server = origin.scheme == .https ? https : http, !origin.isLoopback else { return nil }
        return except.contains { Self.matches(origin.host, $0) } ? nil : server
    }

    static func variable(_ name: String) -> String? { unsafe getenv(name).map { unsafe String(cString: $0) } }

    /// Whether an entry of the list of exceptions holds for a host.
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
