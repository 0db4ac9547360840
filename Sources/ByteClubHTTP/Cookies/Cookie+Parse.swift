extension Cookie {
    /// The maximum length of name and value together, in bytes; longer cookies are ignored.
    static let mostBytes = 4096
    private static let mostAttributeBytes = 1024
    /// No cookie lasts longer than 400 days.
    private static let longestLife: Int64 = 400 * 86400

    /// Parses a `Set-Cookie` field (RFC 6265 sections 5.2 and 5.3).
    ///
    /// It follows the stricter rules of browsers (draft-ietf-httpbis-rfc6265bis) for control characters, `Secure`
    /// cookies set over http, and names that begin with `__Secure-` or `__Host-`. A domain of one label, such as `com`,
    /// or one in the list, such as `co.uk`, is rejected, unless it is the host itself. Cookies that are not UTF-8 are
    /// ignored. The result is nil for a cookie to ignore; an expired cookie deletes an older one.
    init?(
        _ field: some Collection<UInt8>, from url: RequestURL, at now: Int64, suffixes: PublicSuffixes? = nil
    ) {
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
        guard let place = Self.place(of: domain, on: url.origin.host, suffixes) else { return nil }
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

    /// The default path (RFC 6265 section 5.1.4): the folder of the requested path.
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

    /// The domain of a cookie with this `Domain` attribute; nil if the host must not set it.
    private static func place(of domain: String?, on host: String, _ suffixes: PublicSuffixes?)
        -> (domain: String, isHostOnly: Bool)?
    {
        guard let domain else { return (host, true) }
        let plain = domain.hasPrefix(".") ? String(domain.dropFirst()) : domain
        if plain == host, !plain.contains(".") || isAddress(plain) { return (host, true) }
        guard plain.contains("."), self.host(host, isWithin: plain) else { return nil }
        if let suffixes, suffixes.contains(plain) { return plain == host ? (host, true) : nil }
        return (plain, false)
    }
}

/// Parsing of cookie dates, which servers write in many formats (RFC 6265 section 5.1.1).
enum CookieDate {
    /// Parses a date; nil if time, day, month or year is missing or out of range.
    static func seconds(_ text: String) -> Int64? {
        var (clock, day, month, year): ([Int64]?, Int64?, Int64?, Int64?)
        for token in text.utf8.split(whereSeparator: isDelimiter) {
            if clock == nil, let found = time(token) {
                clock = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = HTTPDate.month(String(decoding: token.prefix(3), as: UTF8.self)) {
                month = found
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found
            }
        }
        guard let clock, let day, let month, var year, clock[2] < 60 else { return nil }
        if (70...99).contains(year) { year += 1900 } else if (0...69).contains(year) { year += 2000 }
        return HTTPDate.seconds(
            year: year, month: month, day: day, hour: clock[0], minute: clock[1], second: clock[2])
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 9, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// The leading digits of a token, if their count is in range.
    private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int64? {
        let found = token.prefix(while: isDigit)
        guard digits.contains(found.count) else { return nil }
        return Int64(Substring(found))
    }

    private static func time(_ token: Substring.UTF8View) -> [Int64]? {
        let parts = token.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count >= 3 else { return nil }
        let numbers = parts.prefix(3).compactMap { number($0, digits: 1...2) }
        guard numbers.count == 3, parts.prefix(2).allSatisfy({ $0.allSatisfy(isDigit) }),
            parts.count == 3 || !parts[2].allSatisfy(isDigit)
        else { return nil }
        return numbers
    }
}
