import ByteClubCore

/// What a `.byteclubignore` file keeps out of the mirror, on both sides: patterns as in a `.gitignore`.
///
/// The last pattern that matches decides; what is below an ignored folder is ignored. Letter case does not count.
struct IgnoreRules: Sendable, Equatable {
    /// The file's name at the mirror's root; the file itself is synced.
    static let fileName = ".byteclubignore"

    private struct Pattern: Sendable, Equatable {
        var segments: [[UInt8]]
        var isNegated = false
        var isFolderOnly = false
    }

    private var patterns: [Pattern] = []

    /// No rules but the names that are never synced.
    init() {}

    /// Reads the lines of an ignore file.
    init(_ text: String) {
        for line in text.split(omittingEmptySubsequences: true, whereSeparator: \.isNewline) {
            if let pattern = Self.parse(line) { patterns.append(pattern) }
        }
    }

    private static func parse(_ line: Substring) -> Pattern? {
        var rest = line
        if rest.first == "\u{FEFF}" { rest = rest.dropFirst() }
        if rest.first == "#" { return nil }
        while rest.last == " ", !rest.hasSuffix("\\ ") { rest = rest.dropLast() }
        var pattern = Pattern(segments: [])
        if rest.first == "!" {
            pattern.isNegated = true
            rest = rest.dropFirst()
        }
        if rest.last == "/" {
            pattern.isFolderOnly = true
            rest = rest.dropLast()
        }
        let isAnchored = rest.contains("/")
        pattern.segments = PathKey.fold(String(rest)).utf8.split(separator: UInt8(ascii: "/")).map(Array.init)
        if pattern.segments.isEmpty { return nil }
        if !isAnchored { pattern.segments.insert(Array("**".utf8), at: 0) }
        return pattern
    }

    /// Whether an entry, or a folder above it, is kept out; the key is relative to the mirror's root.
    func excludes(_ key: PathKey, isFolder: Bool) -> Bool {
        let names = key.string.utf8.split(separator: UInt8(ascii: "/")).map(Array.init)
        guard let first = names.first else { return false }
        if first == Array(MirrorDirectory.privateName.utf8) { return true }
        for (index, name) in names.enumerated() {
            if Self.mayBeIgnored(name), NameRules.isIgnored(String(decoding: name, as: UTF8.self)) { return true }
            if patterns.isEmpty { continue }
            if isMatched(names[...index], isFolder: isFolder || index < names.count - 1) { return true }
        }
        return false
    }

    /// A quick look at the first byte of the names that are never synced.
    private static func mayBeIgnored(_ name: [UInt8]) -> Bool {
        guard let first = name.first else { return false }
        return first == UInt8(ascii: "~") || first == UInt8(ascii: ".") || first == UInt8(ascii: "d")
            || first == UInt8(ascii: "t") || first == UInt8(ascii: "i")
    }

    private func isMatched(_ names: ArraySlice<[UInt8]>, isFolder: Bool) -> Bool {
        var result = false
        for pattern in patterns where pattern.isNegated == result {
            if pattern.isFolderOnly, !isFolder { continue }
            if Self.matches(pattern.segments[...], names) { result = !pattern.isNegated }
        }
        return result
    }

    private static func matches(_ pattern: ArraySlice<[UInt8]>, _ names: ArraySlice<[UInt8]>) -> Bool {
        guard let segment = pattern.first else { return names.isEmpty }
        let rest = pattern.dropFirst()
        if segment == Array("**".utf8) {
            if rest.isEmpty { return !names.isEmpty }
            for start in names.startIndex...names.endIndex where matches(rest, names[start...]) { return true }
            return false
        }
        guard let name = names.first, Self.glob(segment[...], name[...]) else { return false }
        return matches(rest, names.dropFirst())
    }

    /// Matches one name with `*`, `?` and `\`, in time that the lengths' product bounds.
    private static func glob(_ pattern: ArraySlice<UInt8>, _ name: ArraySlice<UInt8>) -> Bool {
        var (at, place) = (pattern.startIndex, name.startIndex)
        var retry: (pattern: Int, name: Int)?
        while place < name.endIndex {
            if at < pattern.endIndex, pattern[at] == UInt8(ascii: "*") {
                retry = (at + 1, place)
                at += 1
                continue
            }
            var next = at
            if next < pattern.endIndex, pattern[next] == UInt8(ascii: "\\"), next + 1 < pattern.endIndex { next += 1 }
            if next < pattern.endIndex {
                if next == at, pattern[next] == UInt8(ascii: "?") {
                    place = afterScalar(name, place)
                    at += 1
                    continue
                }
                if pattern[next] == name[place] {
                    (at, place) = (next + 1, place + 1)
                    continue
                }
            }
            guard let known = retry else { return false }
            retry = (known.pattern, known.name + 1)
            (at, place) = (known.pattern, known.name + 1)
        }
        return pattern[at...].allSatisfy { $0 == UInt8(ascii: "*") }
    }

    private static func afterScalar(_ name: ArraySlice<UInt8>, _ place: Int) -> Int {
        var next = place + 1
        while next < name.endIndex, name[next] & 0xC0 == 0x80 { next += 1 }
        return next
    }
}
