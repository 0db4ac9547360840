extension Cookie {
    /// The most bytes that name and value have together; longer cookies are ignored.
    static let mostBytes = 4096
    private static let mostAttributeBytes = 1024
    /// No cookie lasts longer than 400 days.
    private static let longestLife: Int64 = 400 * 86400

    /// Reads a `Set-Cookie` field (RFC 6265 sections 5.2 and 5.3).
    ///
    /// Stricter than the RFC where browsers are, as its successor (draft-ietf-httpbis-rfc6265bis) says: control
    /// characters, `Secure` from http, and names that begin with `__Secure-` or `__Host-` without what these promise.
    /// A domain of one label, such as `com`, is refused; there is no list of other public suffixes such as `co.uk`.
    /// What is not UTF-8 is ignored as well. Nil where the cookie must be ignored; one that has expired already deletes
    /// another.
    ///
    /// - Parameters:
    ///   - field: The field's value.
    ///   - url: The address that answered with it.
    ///   - now: The present in seconds since 1970.
    init?(_ field: some Collection<UInt8>, from url: RequestURL, at now: Int64) {
        guard field.allSatisfy({ $0 == 9 || $0 >= 0x20 && $0 != 0x7F }),
            let text = String(validating: field, as: UTF8.self)
        else { return nil }
        let pieces = text.split(separator: ";", omittingEmptySubsequences: false)
        guard let (name, value) = pieces.first.flatMap(Self.pair), let value, !name.isEmpty,
            name.utf8.count + value.utf8.count <= Self.mostBytes
        else { return nil }
        var (path, domain, maxAge, dated): (String?, String?, Int64?, Int64?)
        var (isSecure, isHTTPOnly, sameSite) = (false, false, SameSite?.none)
        for piece in pieces.dropFirst() {
            guard let (attribute, given) = Self.pair(piece) else { continue }
            let value = given ?? ""
            guard value.utf8.count <= Self.mostAttributeBytes else { continue }
            switch attribute.lowercased() {
            case "expires": dated = CookieDate.seconds(value) ?? dated
            case "max-age": maxAge = Self.age(value) ?? maxAge
            case "domain": if !value.isEmpty { domain = value.lowercased() }
            case "path": path = value
            case "secure": isSecure = true
            case "httponly": isHTTPOnly = true
            case "samesite": sameSite = SameSite(rawValue: value.lowercased())
            default: break
            }
        }
        guard let place = Self.place(of: domain, on: url.origin.host) else { return nil }
        self.name = name
        self.value = value
        (self.domain, isHostOnly) = place
        let givenPath = path.flatMap { $0.hasPrefix("/") ? $0 : nil }
        self.path = givenPath ?? Self.defaultPath(url.path)
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
        let latest = now + Self.longestLife
        expires = (maxAge.map { $0 <= 0 ? .min : now + min($0, Self.longestLife) } ?? dated).map { min($0, latest) }
        if isSecure, url.origin.scheme != .https { return nil }
        let lower = name.lowercased()
        if lower.hasPrefix("__secure-"), !isSecure { return nil }
        if lower.hasPrefix("__host-"), !isSecure || !isHostOnly || givenPath != "/" { return nil }
    }

    /// The default path (RFC 6265 section 5.1.4): the folder of what was asked for.
    static func defaultPath(_ path: String) -> String {
        guard let last = path.lastIndex(of: "/"), last > path.startIndex else { return "/" }
        return String(path[..<last])
    }

    private static func pair(_ piece: Substring) -> (name: String, value: String?)? {
        let parts = piece.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first else { return nil }
        return (trimmed(name), parts.count > 1 ? trimmed(parts[1]) : nil)
    }

    private static func trimmed(_ text: Substring) -> String {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 9 }
        var bytes = text.utf8.drop(while: isBlank)
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return String(Substring(bytes))
    }

    private static func age(_ text: String) -> Int64? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        if digits.count < text.utf8.count { return 0 }
        return Int64(text) ?? longestLife
    }

    /// Where a cookie with this `Domain` belongs; nil if the host may not set it there.
    private static func place(of domain: String?, on host: String) -> (domain: String, isHostOnly: Bool)? {
        guard let domain else { return (host, true) }
        let plain = domain.hasPrefix(".") ? String(domain.dropFirst()) : domain
        if plain == host, !plain.contains(".") || isAddress(plain) { return (host, true) }
        guard plain.contains("."), self.host(host, isWithin: plain) else { return nil }
        return (plain, false)
    }
}
