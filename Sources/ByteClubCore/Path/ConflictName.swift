/// The name under which the losing side of a conflict is kept: a pure function of the name, and of who made that side
/// and when.
///
/// A retry after a crash therefore makes one copy and not two.
public enum ConflictName {
    /// `name (bo, conflict 2026-11-22 1403).ext`; with a number from 2 when that is taken by something else.
    public static func name(for name: String, _ stamp: ConflictStamp, number: Int = 1) -> String {
        NumberedName.tagged(name, number == 1 ? "(\(stamp))" : "(\(stamp) \(number))")
    }

    /// Whether a name is one that was given to a losing side.
    public static func isCopy(_ name: String) -> Bool { parts(of: name) != nil }

    /// Whether a name was given to a losing side that had another name, in whatever spelling.
    public static func isCopy(_ name: String, of original: String) -> Bool {
        guard let tag = parts(of: name)?.tag else { return false }
        return PathKey.fold(NumberedName.tagged(original, "(\(tag))")) == PathKey.fold(name)
    }

    /// The name of which such a name was made, nil when it is none; one that had to be shortened stays short.
    public static func original(of name: String) -> String? { parts(of: name)?.original }

    /// Who made the losing side, as such a name tells it; nil when it is none, or tells nobody.
    public static func author(of name: String) -> String? {
        parts(of: name).flatMap { ConflictStamp.author(in: $0.tag) }
    }

    private static func parts(of name: String) -> (original: String, tag: Substring)? {
        guard name.utf8.contains(UInt8(ascii: "(")), let start = name.ranges(of: " (").last,
            start.lowerBound > name.startIndex, let end = name[start.upperBound...].firstIndex(of: ")")
        else { return nil }
        let (tag, rest) = (name[start.upperBound..<end], name[name.index(after: end)...])
        let isExtension = rest.isEmpty || rest.first == "." && rest.lastIndex(of: ".") == rest.startIndex
        return isExtension && ConflictStamp.isStamp(tag) ? (String(name[..<start.lowerBound] + rest), tag) : nil
    }

    /// The conflict copy's path beside the entry; a number from 2 when that is taken by something else.
    ///
    /// - Throws: ``PathError`` when the path is too long for it.
    public static func path(
        for path: RemotePath, _ stamp: ConflictStamp, number: Int = 1
    ) throws(PathError) -> RemotePath {
        try (path.parent ?? .root).appending(name(for: path.name, stamp, number: number))
    }
}
