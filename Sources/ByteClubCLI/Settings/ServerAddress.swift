/// The address of a club's server, checked: scheme, host, port, and perhaps a path before every operation.
struct ServerAddress: Hashable, Sendable, CustomStringConvertible {
    /// `https://host:port`, in lower case and the path's case kept, without a slash at the end.
    let origin: String

    /// Host and port, as in the words of messages.
    var host: Substring { origin.split(separator: "/", maxSplits: 2).dropFirst().first ?? origin[...] }

    /// Whether a path stands before every operation.
    var hasPath: Bool { origin.count { $0 == "/" } > 2 }

    /// Reads an address; without a scheme it is one of https.
    ///
    /// - Throws: ``Failure`` when it is no address, or plain http to another machine is not allowed.
    init(_ text: String, allowsInsecureHTTP: Bool) throws {
        let typed = text
        let isBare = !text.contains("://") && text.contains { $0 == "." || $0 == ":" }
        let text = isBare ? "https://" + text : text
        let lower = text.lowercased()
        let refusal = Failure(.usage, "'\(typed)' is not a server address; write https://host or https://host:port")
        let scheme: String
        if lower.hasPrefix("https://") {
            scheme = "https"
        } else if lower.hasPrefix("http://") {
            scheme = "http"
        } else {
            throw refusal
        }
        let rest = lower.dropFirst(scheme.count + 3)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        // The path keeps its case.
        var path = text.dropFirst(text.count - rest[slash...].count)
        while path.last == "/" { path = path.dropLast() }
        guard path.utf8.allSatisfy({ Self.isPlain($0) || $0 == 47 || $0 == 126 }) else { throw refusal }
        if rest.contains("@") {
            throw Failure(.usage, "a server address cannot contain a user name or password; omit all before '@'")
        }
        let (host, port) = Self.split(rest[..<slash])
        let isName = host.utf8.allSatisfy(Self.isPlain)
        let isAddress =
            host.hasPrefix("[") && host.hasSuffix("]") && host.count > 3
            && host.dropFirst().dropLast().utf8.allSatisfy {
                (48...58).contains($0) || (97...102).contains($0) || $0 == 46
            }
        guard !host.isEmpty, isName || isAddress, port.map({ (1...65535).contains(Int($0) ?? 0) }) ?? true else {
            throw refusal
        }
        if scheme == "http", !Self.isLoopback(host), !allowsInsecureHTTP {
            throw Failure(
                .configuration,
                "http to '\(host)' would expose the token to the network; use https, or --insecure-http if you must")
        }
        origin = scheme + "://" + host + (port.map { ":" + $0 } ?? "") + path
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, 45, 46, 95: true
        default: false
        }
    }

    private static func split(_ text: Substring) -> (host: String, port: String?) {
        let afterAddress = text.lastIndex(of: "]") ?? text.startIndex
        guard let colon = text[afterAddress...].lastIndex(of: ":") else { return (String(text), nil) }
        return (String(text[..<colon]), String(text[text.index(after: colon)...]))
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// The same text as ``origin``.
    var description: String { origin }
}
