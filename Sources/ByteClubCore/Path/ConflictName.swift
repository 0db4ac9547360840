/// The name under which the losing side of a conflict is kept: a pure function of the name, and of who made that side
/// and when.
///
/// A retry after a crash therefore makes one copy and not two.
public enum ConflictName {
    /// `name (bo, conflict 2026-11-22 1403).ext`; with a number from 2 when something else has that name.
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

    /// The author of the losing side, from the name of a conflict copy; nil for other names, and for copies without
    /// one.
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

    /// The conflict copy's path beside the entry; with a number from 2 when something else has that path.
    ///
    /// - Throws: ``PathError`` when the path is too long for it.
    public static func path(
        for path: RemotePath, _ stamp: ConflictStamp, number: Int = 1
    ) throws(PathError) -> RemotePath {
        try (path.parent ?? .root).appending(name(for: path.name, stamp, number: number))
    }
}

/// The author and the time of the losing side of a conflict, as in the name of its copy: `bo, conflict 2026-11-22
/// 1403`.
///
/// Without a known author it is `conflict 2026-11-22 1403`.
public struct ConflictStamp: Hashable, Sendable, CustomStringConvertible {
    /// The most UTF-8 bytes of an author's name in it.
    private static let maximumAuthor = 48
    private static let word = "conflict"
    /// Characters that some systems forbid in names, and those that end the stamp.
    private static let unfit: Set<Unicode.Scalar> = ["/", "\\", ":", "*", "?", "\"", "<", ">", "|", "(", ")", "."]

    /// The stamp's text.
    public let description: String

    /// Makes a stamp.
    ///
    /// - Parameters:
    ///   - author: The member's name; what does not fit into the name of a file is left out of it.
    ///   - time: Seconds since 1970.
    ///   - offset: How many seconds the clocks that people read are ahead of Greenwich then.
    public init(author: String?, time: Int64, offset: Int64 = 0) {
        let shown = APIDate(seconds: time &+ offset).calendar
        let clock = APIDate.two(shown.second / 3_600) + APIDate.two(shown.second / 60 % 60)
        let date = "\(String(shown.year).padded(to: 4))-\(APIDate.two(shown.month))-\(APIDate.two(shown.day))"
        let author = Self.fitting(author ?? "")
        description = (author.isEmpty ? "" : author + ", ") + "\(Self.word) \(date) \(clock)"
    }

    private static func fitting(_ author: String) -> String {
        var kept = String.UnicodeScalarView()
        for scalar in author.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned: continue
            case .spaceSeparator, .lineSeparator, .paragraphSeparator:
                if kept.last != " ", !kept.isEmpty { kept.append(" ") }
            default: if !unfit.contains(scalar) { kept.append(scalar) }
            }
        }
        var name = String(kept)
        while name.utf8.count > maximumAuthor || name.last == " " { name.removeLast() }
        return name
    }

    /// Whether a text is a stamp, also with a number from 2; earlier releases used the first digits of the content's
    /// hash, or `folder`.
    static func isStamp(_ text: Substring) -> Bool {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard let start = words.lastIndex(where: { $0 == word }), start == 0 || words[start - 1].hasSuffix(","),
            words[0] != ","
        else { return false }
        var rest = words[(start + 1)...]
        guard let first = rest.popFirst() else { return false }
        if first == "folder" || first.utf8.count == 8 && first.utf8.allSatisfy(isHexadecimal) {
            guard start == 0 else { return false }
        } else {
            guard has(first, "dddd-dd-dd"), let clock = rest.popFirst(), has(clock, "dddd") else { return false }
        }
        guard let number = rest.popFirst() else { return true }
        return rest.isEmpty && number.first != "0" && number != "1" && !number.isEmpty
            && number.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// The author's name in a stamp; nil without one.
    static func author(in stamp: Substring) -> String? {
        guard let end = stamp.ranges(of: ", \(word) ").last?.lowerBound, end > stamp.startIndex else { return nil }
        return String(stamp[..<end])
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    /// Whether a text has a form, in which `d` is a digit.
    private static func has(_ text: Substring, _ form: String) -> Bool {
        text.utf8.count == form.utf8.count
            && zip(text.utf8, form.utf8).allSatisfy { byte, wanted in
                wanted == UInt8(ascii: "d")
                    ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) : byte == wanted
            }
    }
}
