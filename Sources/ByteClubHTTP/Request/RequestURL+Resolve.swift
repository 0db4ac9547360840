extension RequestURL {
    /// Parses an absolute URL as people write it.
    init(address: String) throws(TransferError) {
        guard let bytes = RequestURL.sanitized(address.utf8) else {
            throw .badAddress("the address holds a control character")
        }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), RequestURL.isScheme(bytes[..<colon]),
            let scheme = Origin.Scheme(rawValue: String(decoding: bytes[..<colon], as: UTF8.self).lowercased())
        else { throw .badAddress("the address must begin with http:// or https://") }
        guard let url = RequestURL(scheme: scheme, hierarchy: bytes[(colon + 1)...]) else {
            let authority = bytes[(colon + 1)...].dropFirst(2).prefix {
                $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?")
            }
            throw .badAddress(
                authority.contains(UInt8(ascii: "@"))
                    ? "the address names a user; credentials belong in the Authorization field"
                    : "the address needs a host of ASCII letters and digits, with a port or without")
        }
        self = url
    }

    /// Resolves a `Location` field relative to this URL (RFC 3986 section 5.2).
    ///
    /// Spaces and non-ASCII bytes are percent-encoded, as in browsers, and the fragment is dropped. The result is nil
    /// for other schemes than http and https, for a user name, and for control characters.
    func resolving(_ location: some Sequence<UInt8>) -> RequestURL? {
        guard let reference = RequestURL.sanitized(location) else { return nil }
        if let colon = reference.firstIndex(of: UInt8(ascii: ":")), RequestURL.isScheme(reference[..<colon]) {
            let name = String(decoding: reference[..<colon], as: UTF8.self).lowercased()
            guard let scheme = Origin.Scheme(rawValue: name) else { return nil }
            return RequestURL(scheme: scheme, hierarchy: reference[(colon + 1)...])
        }
        if reference.starts(with: RequestURL.twoSlashes) {
            return RequestURL(scheme: origin.scheme, hierarchy: reference[...])
        }
        let base = Array(target.utf8)
        let path = base.prefix { $0 != UInt8(ascii: "?") }
        switch reference.first {
        case nil: return self
        case UInt8(ascii: "?"): return RequestURL(origin: origin, bytes: path + reference)
        case UInt8(ascii: "/"): return RequestURL(origin: origin, bytes: reference[...])
        default:
            let folder = path.lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? [UInt8(ascii: "/")]
            return RequestURL(origin: origin, bytes: folder + reference)
        }
    }

    private static let twoSlashes = Array("//".utf8)

    private init?(scheme: Origin.Scheme, hierarchy: ArraySlice<UInt8>) {
        guard hierarchy.starts(with: RequestURL.twoSlashes) else { return nil }
        let rest = hierarchy.dropFirst(2)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard let origin = Origin(scheme: scheme, authority: String(decoding: authority, as: UTF8.self)) else {
            return nil
        }
        let target = rest[authority.endIndex...]
        self.init(origin: origin, bytes: target.first == UInt8(ascii: "/") ? target : [UInt8(ascii: "/")] + target)
    }

    private init(origin: Origin, bytes: ArraySlice<UInt8>) {
        let path = bytes.prefix { $0 != UInt8(ascii: "?") }
        let whole = RequestURL.removingDots(path) + bytes[path.endIndex...]
        self.init(origin: origin, target: String(decoding: whole, as: UTF8.self))
    }

    private static func isScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, (0x41...0x5A).contains(first & 0xDF) else { return false }
        return bytes.allSatisfy {
            (0x41...0x5A).contains($0 & 0xDF) || (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E].contains($0)
        }
    }

    private static func sanitized(_ location: some Sequence<UInt8>) -> [UInt8]? {
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for byte in location {
            if byte == UInt8(ascii: "#") { break }
            if byte == 0x20 || byte >= 0x80 {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            } else if isPlain(byte) {
                result.append(byte)
            } else {
                return nil
            }
        }
        return result
    }

    private static func removingDots(_ path: ArraySlice<UInt8>) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        let segments = path.split(separator: slash, omittingEmptySubsequences: false).dropFirst()
        var kept: [ArraySlice<UInt8>] = []
        for (index, segment) in zip(segments.indices, segments) {
            let isLast = index == segments.endIndex - 1
            switch String(decoding: segment, as: UTF8.self) {
            case ".":
                if isLast { kept.append([]) }
            case "..":
                _ = kept.popLast()
                if isLast { kept.append([]) }
            default: kept.append(segment)
            }
        }
        return kept.flatMap { [slash] + $0 }
    }
}
