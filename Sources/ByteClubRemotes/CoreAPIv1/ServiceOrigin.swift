import ByteClubCore

/// The checked address of a server: scheme, host, port, and perhaps a path in front of every operation.
struct ServiceOrigin: Hashable, Sendable {
    let scheme: String
    let authority: String
    /// Empty, or `/…` without a slash at the end.
    let prefix: String

    /// The whole address.
    var address: String { "\(scheme)://\(authority)\(prefix)" }
    /// The server in the words of messages: by host and port alone.
    var club: String { "the club at \(authority)" }

    /// Checks an address such as `https://club.example` or `http://127.0.0.1:8080`.
    ///
    /// - Throws: `badRequest` when it is no plain address, or plain HTTP to a host that is not this machine.
    init(_ text: String, allowsInsecureHTTP: Bool) throws(RemoteError) {
        guard let mark = text.firstRange(of: "://") else {
            throw .badOrigin("it needs the scheme https or http, as in https://club.example")
        }
        scheme = text[..<mark.lowerBound].lowercased()
        guard scheme == "https" || scheme == "http" else { throw .badOrigin("its scheme must be https or http") }
        let rest = text[mark.upperBound...]
        guard rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .badOrigin("it contains a space, a control character or a non-ASCII letter")
        }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        authority = String(rest[..<slash])
        if authority.contains("@") { throw .badOrigin("it must not contain a user name or password") }
        if rest.contains("?") || rest.contains("#") { throw .badOrigin("it must not contain a query or fragment") }
        guard let host = Self.host(authority) else { throw .badOrigin("its host or port is malformed") }
        var path = rest[slash...]
        while path.last == "/" { path.removeLast() }
        prefix = String(path)
        if scheme == "http", !allowsInsecureHTTP, !Self.isLoopback(host) {
            throw .badOrigin("plain http is for this machine alone; use https")
        }
    }

    /// The host of `host`, `host:port`, `[v6]` or `[v6]:port`; nil for anything else.
    private static func host(_ authority: String) -> String? {
        var host = Substring(authority)
        if let colon = authority.lastIndex(of: ":"), authority.last != "]" {
            let digits = authority[authority.index(after: colon)...]
            guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let port = Int(digits),
                (1...65_535).contains(port)
            else { return nil }
            host = authority[..<colon]
        }
        if host.first == "[" {
            guard host.last == "]" else { return nil }
            let inner = host.dropFirst().dropLast()
            return inner.utf8.count > 1 && inner.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
                ? String(inner).lowercased() : nil
        }
        let isPlain = host.utf8.allSatisfy { byte in
            switch byte {
            case 48...57, 65...90, 97...122, 45, 46, 95: true
            default: false
            }
        }
        return !host.isEmpty && isPlain ? host.lowercased() : nil
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}

extension RemoteError {
    fileprivate static func badOrigin(_ reason: String) -> RemoteError {
        RemoteError(.badRequest, "the server's address cannot be used: \(reason)")
    }
}
