import ByteClubCore

/// What a `.byteclubignore` file keeps out of the mirror, on both sides: patterns as in a `.gitignore`.
///
/// The last pattern that matches decides; what is below an ignored folder is ignored. Letter case does not count.
struct IgnoreRules: Sendable, Equatable {
    /// The file's name at the mirror's root; the file itself is synced.
    static let fileName = ".byteclubignore"

    private var patterns: [IgnorePattern] = []

    /// No rules but the names that are never synced.
    init() {}

    /// Reads the lines of an ignore file.
    init(_ text: String) {
        var scalars = text.unicodeScalars[...]
        if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
        for (index, line) in scalars.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let content = line.last == "\r" ? line.dropLast() : line
            if let pattern = IgnorePattern(Substring(content), line: index + 1) { patterns.append(pattern) }
        }
    }

    /// Whether an entry, or a folder above it, is kept out; the key is relative to the mirror's root.
    func excludes(_ key: PathKey, isFolder: Bool) -> Bool {
        isNeverSynced(key) || deciding(in: key, isFolder: isFolder)?.isNegated == false
    }

    /// The number of the line that decides about an entry, from 1; nil when no line is about it or a folder above it.
    ///
    /// A line that begins with `!` decides that the entry is synced, any other that it is not.
    func deciding(_ key: PathKey, isFolder: Bool) -> Int? {
        isNeverSynced(key) ? nil : deciding(in: key, isFolder: isFolder)?.line
    }

    private func isNeverSynced(_ key: PathKey) -> Bool {
        let names = key.string.utf8.split(separator: UInt8(ascii: "/"))
        if names.first?.elementsEqual(MirrorDirectory.privateName.utf8) == true { return true }
        return names.contains { Self.mayBeIgnored($0.first) && NameRules.isIgnored(String(Substring($0))) }
    }

    /// A quick look at the first byte of the names that are never synced.
    private static func mayBeIgnored(_ first: UInt8?) -> Bool {
        first == UInt8(ascii: "~") || first == UInt8(ascii: ".") || first == UInt8(ascii: "d")
            || first == UInt8(ascii: "t") || first == UInt8(ascii: "i")
    }

    /// The pattern that ignores the topmost folder that is ignored, else the last that is about the entry itself.
    private func deciding(in key: PathKey, isFolder: Bool) -> IgnorePattern? {
        if patterns.isEmpty { return nil }
        let names = Array(key.string.unicodeScalars).split(separator: "/")
        var decision: IgnorePattern?
        for end in names.indices {
            let isLast = end == names.count - 1
            decision = patterns.last { $0.matches(names[...end], isFolder: isFolder || !isLast) }
            if decision?.isNegated == false { return decision }
        }
        return decision
    }
}
