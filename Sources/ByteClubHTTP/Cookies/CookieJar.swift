/// Cookies by domain, with the rules for sending and evicting them.
struct CookieJar {
    /// The maximum number of cookies; RFC 6265 section 6.1 requires at least 50 and 3000.
    static let mostPerDomain = 150
    static let mostInAll = 3000

    private struct Entry {
        var cookie: Cookie
        /// The value of the change counter when it was first set.
        var created: UInt64
        /// The value of the change counter when it was last sent or set.
        var used: UInt64
    }

    private var domains: [String: [Entry]] = [:]
    private var clock: UInt64 = 0
    private(set) var count = 0

    /// All cookies that have not expired, in the order they were set.
    func cookies(at now: Int64) -> [Cookie] {
        domains.values.joined().filter { !$0.cookie.isExpired(at: now) }.sorted { $0.created < $1.created }.map(
            \.cookie)
    }

    /// The cookies for a request in sending order: longer paths first, then earlier cookies.
    mutating func cookies(for url: RequestURL, at now: Int64) -> [Cookie] {
        if count == 0 { return [] }
        clock += 1
        var found: [Entry] = []
        for domain in Self.domains(above: url.origin.host) {
            guard var entries = domains[domain] else { continue }
            for index in entries.indices
            where entries[index].cookie.applies(to: url) && !entries[index].cookie.isExpired(at: now) {
                entries[index].used = clock
                found.append(entries[index])
            }
            domains[domain] = entries
        }
        found.sort {
            let (left, right) = ($0.cookie.path.utf8.count, $1.cookie.path.utf8.count)
            return left == right ? $0.created < $1.created : left > right
        }
        return found.map(\.cookie)
    }

    /// Adds a cookie, or removes the one that an expired cookie would replace; true if anything changed.
    mutating func insert(_ cookie: Cookie, from scheme: Origin.Scheme, at now: Int64) -> Bool {
        if scheme == .http, shadowsSecure(cookie) { return false }
        clock += 1
        var entry = Entry(cookie: cookie, created: clock, used: clock)
        let old = domains[cookie.domain]?.firstIndex { $0.cookie.hasSamePlace(as: cookie) }
        if let old, let replaced = domains[cookie.domain]?.remove(at: old) {
            count -= 1
            entry.created = replaced.created
        }
        if cookie.isExpired(at: now) {
            forgetIfEmpty(cookie.domain)
            return old != nil
        }
        domains[cookie.domain, default: []].append(entry)
        count += 1
        if let all = domains[cookie.domain], all.count > Self.mostPerDomain {
            shrink([cookie.domain], to: Self.mostPerDomain, at: now)
        }
        if count > Self.mostInAll { shrink(Array(domains.keys), to: Self.mostInAll, at: now) }
        return true
    }

    /// Removes the cookies that match a condition; true if there were any.
    mutating func remove(where condition: (Cookie) -> Bool) -> Bool {
        let before = count
        for domain in Array(domains.keys) {
            domains[domain]?.removeAll { condition($0.cookie) }
            forgetIfEmpty(domain)
        }
        count = domains.values.reduce(0) { $0 + $1.count }
        return count != before
    }

    /// Whether an insecure cookie would shadow a secure one (draft-ietf-httpbis-rfc6265bis section 5.7).
    private func shadowsSecure(_ cookie: Cookie) -> Bool {
        domains.values.joined().contains { entry in
            let other = entry.cookie
            return other.isSecure && other.name == cookie.name && Cookie.path(cookie.path, isUnder: other.path)
                && (Cookie.host(cookie.domain, isWithin: other.domain)
                    || Cookie.host(other.domain, isWithin: cookie.domain))
        }
    }

    private mutating func forgetIfEmpty(_ domain: String) {
        if domains[domain]?.isEmpty == true { domains[domain] = nil }
    }

    /// Removes the expired cookies of some domains, then the least recently used ones.
    private mutating func shrink(_ names: [String], to most: Int, at now: Int64) {
        let all = names.flatMap { domains.removeValue(forKey: $0) ?? [] }
        let kept = all.filter { !$0.cookie.isExpired(at: now) }.sorted { $0.used < $1.used }.suffix(most)
        for entry in kept { domains[entry.cookie.domain, default: []].append(entry) }
        count += kept.count - all.count
    }

    /// A host and all its parent domains.
    private static func domains(above host: String) -> [String] {
        var result = [host]
        if Cookie.isAddress(host) { return result }
        var rest = host[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            if !rest.isEmpty { result.append(String(rest)) }
        }
        return result
    }
}

extension CookieJar {
    /// The persistent cookies in their stored format.
    func encoded(at now: Int64) -> [UInt8] {
        var writer = RecordWriter()
        for cookie in cookies(at: now) where cookie.expires != nil { writer.put(cookie) }
        return writer.bytes
    }

    /// Reads the format of ``encoded(at:)``.
    init(_ bytes: ArraySlice<UInt8>, at now: Int64) throws(RecordReader.Damage) {
        var reader = RecordReader(bytes)
        while !reader.isAtEnd { _ = insert(try reader.value(), from: .https, at: now) }
    }
}

/// The format of a persistent cookie.
extension Cookie: Recordable {
    func encode(to writer: inout RecordWriter) {
        writer.put(
            name, value, domain, path, sameSite?.rawValue ?? "", isHostOnly, isSecure, isHTTPOnly, expires ?? .max)
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        let (site, end): (String, Int64)
        (name, value, domain, path, site, isHostOnly, isSecure, isHTTPOnly, end) = try reader.values()
        (sameSite, expires) = (SameSite(rawValue: site), end)
        guard (name + value).utf8.allSatisfy({ $0 == 9 || $0 >= 0x20 && $0 != 0x7F }) else {
            throw RecordReader.Damage()
        }
    }
}
