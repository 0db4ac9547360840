import ByteClubCore

/// The rules of a `.byteclubignore` file, which exclude entries on both sides: patterns as in a `.gitignore`.
///
/// The last pattern that matches decides; everything below an ignored folder is ignored. Letter case does not matter.
/// The file itself is never ignored, so that a correction of it always arrives. The patterns of ``TemporaryFiles``
/// apply before its first line.
struct IgnoreRules: Sendable, Equatable {
    /// The file's name at the mirror's root; the file itself is synced.
    static let fileName = ".byteclubignore"
    /// The most bytes of a file that is read.
    static let maximumFileBytes = 1 << 20
    /// The most patterns of a file; comments and empty lines are none.
    static let maximumPatterns = 1_000
    /// The most bytes of a pattern, as many as a name has.
    static let maximumPatternBytes = 255

    /// The error for a file that exceeds a limit.
    struct LimitExceeded: Error, Hashable {
        /// One line for people.
        let message: String
    }

    private static let fileKey = "/" + fileName

    private var patterns: [IgnorePattern] = []

    /// The version of the built-in names and patterns; a new one makes mirrors apply them again.
    static let defaults = "2"

    /// No rules but those without a file, and the names that are never synced.
    init() {}

    /// Reads the lines of an ignore file.
    ///
    /// - Throws: ``LimitExceeded`` for more patterns than ``maximumPatterns``, or one of more bytes than
    ///   ``maximumPatternBytes``.
    init(_ text: String) throws(LimitExceeded) {
        var bytes = text.utf8[...]
        if bytes.starts(with: "\u{FEFF}".utf8) { bytes.removeFirst(3) }
        var lines: [(number: Int, text: Substring)] = []
        for (index, line) in bytes.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
            let content = line.last == 13 ? line.dropLast() : line
            if content.isEmpty || content.first == UInt8(ascii: "#") { continue }
            if content.count > Self.maximumPatternBytes {
                throw LimitExceeded(
                    message:
                        "line \(index + 1) is longer than the \(Self.maximumPatternBytes) bytes that a pattern may have"
                )
            }
            if lines.count == Self.maximumPatterns {
                throw LimitExceeded(message: "it has more than \(Self.maximumPatterns) patterns")
            }
            lines.append((index + 1, Substring(content)))
        }
        patterns = lines.compactMap { IgnorePattern($0.text, line: $0.number) }
    }

    /// Whether an entry or a folder above it is excluded; the key is relative to the mirror's root.
    func excludes(_ key: PathKey, isFolder: Bool) -> Bool {
        isNeverSynced(key) || deciding(in: key, isFolder: isFolder)?.isNegated == false
    }

    /// Whether a pattern of the file excludes an entry that would be synced otherwise.
    func ignores(_ key: PathKey, isFolder: Bool) -> Bool {
        !isNeverSynced(key) && excludes(key, isFolder: isFolder)
    }

    /// The number of the line that decides about an entry, from 1; nil when no line is about it or a folder above it.
    ///
    /// It is 0 for a temporary file that no line is about. A line that begins with `!` decides that the entry is synced,
    /// any other that it is not.
    func deciding(_ key: PathKey, isFolder: Bool) -> Int? {
        isNeverSynced(key) ? nil : deciding(in: key, isFolder: isFolder)?.line
    }

    private func isNeverSynced(_ key: PathKey) -> Bool {
        let names = key.string.utf8.split(separator: UInt8(ascii: "/"))
        return names.contains { name in
            guard Self.mayBeIgnored(name.first) else { return false }
            return name.elementsEqual(MirrorDirectory.privateName.utf8) || NameRules.isIgnored(String(Substring(name)))
        }
    }

    /// A quick check of the first byte for names that are never synced.
    private static func mayBeIgnored(_ first: UInt8?) -> Bool {
        first == UInt8(ascii: "~") || first == UInt8(ascii: ".") || first == UInt8(ascii: "d")
            || first == UInt8(ascii: "t") || first == UInt8(ascii: "i")
    }

    /// The pattern that ignores the topmost ignored folder above the entry, else the last one that matches the entry.
    private func deciding(in key: PathKey, isFolder: Bool) -> IgnorePattern? {
        let name = key.string.utf8.lastIndex(of: UInt8(ascii: "/")).map { key.string[$0...].dropFirst().utf8 }
        let mayBeTemporary = !isFolder && name.map(TemporaryFiles.mayHold) ?? false
        let patterns = mayBeTemporary ? TemporaryFiles.patterns + self.patterns : self.patterns
        if patterns.isEmpty || key == .root || key.string == Self.fileKey { return nil }
        let names = Array(key.string.unicodeScalars.dropFirst()).split(
            separator: "/", omittingEmptySubsequences: false)
        // For each name in the path, the last pattern that matches.
        var deciders = [IgnorePattern?](repeating: nil, count: names.count)
        for pattern in patterns.reversed() {
            for position in pattern.matches(in: names)
            where deciders[position] == nil && pattern.applies(folder: isFolder || position < names.count - 1) {
                deciders[position] = pattern
            }
        }
        return deciders.first { $0?.isNegated == false } ?? deciders.last ?? nil
    }
}

/// Files that editors and browsers keep beside a document: they are not synced by default.
///
/// The list has no folders and only names that no member gives to a note: Nextcloud's list without ordinary names
/// (vim's `4913` exists for a moment only). A line such as `!*~` in the ignore file includes them.
enum TemporaryFiles {
    /// The patterns, as in an ignore file; servers refuse the names of ``NameRules/isIgnored(_:)`` as well.
    static let patterns: [IgnorePattern] =
        [
            // vim and nano: swap files, also of files without a name, and vim's probe for long names.
            ".*.sw[j-px]", ".*.swpx", ".sw[op]",
            // Emacs, Kate and GNOME.
            "*~", "\\#*#", ".#*", ".*.kate-swp", ".goutputstream-*",
            // Files that were deleted while a program had them open.
            ".fuse_hidden*", ".nfs0*",
        ].compactMap { IgnorePattern(fileName: $0[...]) } + downloads.compactMap { IgnorePattern(fileName: "*\($0)") }

    /// The ends of the names of downloads on their way.
    private static let downloads = [".part", ".filepart", ".crdownload"]

    /// Whether a file has the name that a file system gives to one that was deleted while a program had it open.
    static func isDeleted(_ name: String) -> Bool { name.hasPrefix(".fuse_hidden") || name.hasPrefix(".nfs0") }

    /// A quick check of a folded name; false means that no pattern matches.
    static func mayHold(_ name: Substring.UTF8View) -> Bool {
        switch (name.first, name.last) {
        case (UInt8(ascii: ".")?, _), (_, UInt8(ascii: "~")?), (_, UInt8(ascii: "#")?): true
        default: downloads.contains { name.suffix($0.utf8.count).elementsEqual($0.utf8) }
        }
    }
}
