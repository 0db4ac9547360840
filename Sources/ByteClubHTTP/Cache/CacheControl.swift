import HTTPTypes

/// The directives of `Cache-Control` that matter to a cache of one user (RFC 9111 section 5.2).
///
/// Directives for shared caches (`s-maxage`, `private`, `proxy-revalidate`) and unknown ones are ignored.
struct CacheControl: Equatable {
    var noStore = false
    var noCache = false
    var mustRevalidate = false
    var onlyIfCached = false
    /// In seconds; a value that is not a number, or contradictory values, count as 0: the most cautious reading.
    var maxAge: Int64?
    var minFresh: Int64?
    /// In seconds; `.max` for a directive without a number.
    var maxStale: Int64?
    /// Whether the response may be stored whatever its status: it has `public`, `private` or a maximum age.
    var isExplicit = false

    /// Reads all `Cache-Control` fields, or `Pragma: no-cache` if there are none.
    init(_ fields: HTTPFields) {
        guard let text = fields[.cacheControl] else {
            noCache =
                StoredResponse.value("pragma", in: fields).map {
                    Self.directives($0).contains { $0.name == "no-cache" }
                } ?? false
            return
        }
        for (name, value) in Self.directives(text) {
            switch name {
            case "no-store": noStore = true
            case "no-cache": noCache = true
            case "must-revalidate": mustRevalidate = true
            case "only-if-cached": onlyIfCached = true
            case "public", "private": isExplicit = true
            case "max-age":
                let seconds = value.flatMap(Self.seconds) ?? 0
                maxAge = maxAge.map { $0 == seconds ? seconds : 0 } ?? seconds
                isExplicit = true
            case "min-fresh": minFresh = value.flatMap(Self.seconds)
            case "max-stale": maxStale = value.map { Self.seconds($0) ?? 0 } ?? .max
            default: break
            }
        }
    }

    /// Parses a number of seconds (RFC 9111 section 1.2.2); nil for anything else.
    static func seconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return min(Int64(text) ?? 1 << 31, 1 << 31)
    }

    /// Splits a field into lower-case names and unquoted values; a comma inside quotes does not separate directives.
    private static func directives(_ text: String) -> [(name: String, value: String?)] {
        var result: [(String, String?)] = []
        var name: [UInt8] = []
        var value: [UInt8]?
        var (isQuoted, isEscaped) = (false, false)
        func finish() {
            let blank = { (byte: UInt8) in byte == 0x20 || byte == 9 }
            let key = String(decoding: name.filter { !blank($0) }, as: UTF8.self).lowercased()
            if !key.isEmpty { result.append((key, value.map { String(decoding: $0, as: UTF8.self) })) }
            (name, value) = ([], nil)
        }
        for byte in text.utf8 {
            if isEscaped {
                value?.append(byte)
                isEscaped = false
            } else if isQuoted {
                switch byte {
                case UInt8(ascii: "\\"): isEscaped = true
                case UInt8(ascii: "\""): isQuoted = false
                default: value?.append(byte)
                }
            } else {
                switch byte {
                case UInt8(ascii: ","): finish()
                case UInt8(ascii: "\"") where value != nil: isQuoted = true
                case UInt8(ascii: "=") where value == nil: value = []
                case 0x20, 9: break
                default: if value == nil { name.append(byte) } else { value?.append(byte) }
                }
            }
        }
        finish()
        return result
    }
}
