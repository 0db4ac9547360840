/// A line of a text, or what is left of it within a list or a quotation.
struct MarkdownLine {
    /// The number of the line in the source, from 0.
    let number: Int
    /// Its bytes without its end.
    var bytes: ArraySlice<UInt8>

    /// The lines of a text, which end with LF or CRLF; with blanks for the tabs that they begin with.
    static func lines(of text: [UInt8]) -> [MarkdownLine] {
        var lines: [MarkdownLine] = []
        var start = 0
        while start < text.count {
            let end = text[start...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
            var bytes = text[start..<end]
            if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
            lines.append(MarkdownLine(number: lines.count, bytes: untabbed(bytes)))
            start = end + 1
        }
        return lines
    }

    /// A line with blanks for the tabs that it begins with.
    static func untabbed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let margin = bytes.prefix { $0.isBlank }
        guard margin.contains(0x09) else { return bytes }
        var width = 0
        for byte in margin { width += byte == 0x09 ? 4 - width % 4 : 1 }
        // Nothing depends on more.
        return ([UInt8](repeating: 0x20, count: min(width, 256)) + bytes[margin.endIndex...])[...]
    }

    /// How many blanks it begins with.
    var indent: Int {
        var index = bytes.startIndex
        while index < bytes.endIndex, bytes[index] == 0x20 { index += 1 }
        return index - bytes.startIndex
    }

    /// Whether there is nothing to see in it.
    var isBlank: Bool { bytes.allSatisfy(\.isBlank) }

    /// The line without so many bytes.
    func dropping(_ count: Int) -> MarkdownLine { MarkdownLine(number: number, bytes: bytes.dropFirst(count)) }

    /// The text between the blanks around it.
    var trimmed: ArraySlice<UInt8> { Self.trim(bytes) }

    /// A text without the blanks around it.
    static func trim(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes.drop { $0.isBlank }
        while let last = bytes.last, last.isBlank { bytes.removeLast() }
        return bytes
    }
}

/// How blocks begin.
extension MarkdownLine {
    /// The mark of a heading, `#` to `######`, with the text behind it.
    var heading: (level: Int, text: ArraySlice<UInt8>)? {
        let indent = indent
        guard indent < 4 else { return nil }
        let text = bytes.dropFirst(indent)
        let level = text.prefix(7).prefix { $0 == UInt8(ascii: "#") }.count
        guard (1...6).contains(level), text.dropFirst(level).first.map(\.isBlank) ?? true else { return nil }
        var rest = Self.trim(text.dropFirst(level))
        // Marks at the end belong to it, when a blank is before them.
        let marks = rest.reversed().prefix { $0 == UInt8(ascii: "#") }.count
        if marks == rest.count {
            rest = rest.prefix(0)
        } else if marks > 0, rest[rest.endIndex - marks - 1].isBlank {
            rest = Self.trim(rest.dropLast(marks))
        }
        return (level, rest)
    }

    /// The beginning of lines of code: three backticks or tildes or more, and a language.
    var fence: (mark: UInt8, count: Int, indent: Int, language: String)? {
        let indent = indent
        let text = bytes.dropFirst(indent)
        guard indent < 4, let mark = text.first, mark == UInt8(ascii: "`") || mark == UInt8(ascii: "~") else {
            return nil
        }
        let count = text.prefix { $0 == mark }.count
        let info = Self.trim(text.dropFirst(count))
        guard count >= 3, mark == UInt8(ascii: "~") || !info.contains(mark) else { return nil }
        return (mark, count, indent, String(decoding: info.prefix { !$0.isBlank }.prefix(32), as: UTF8.self))
    }

    /// Whether it ends lines of code that began so.
    func ends(_ fence: (mark: UInt8, count: Int, indent: Int, language: String)) -> Bool {
        let text = trimmed
        return indent < 4 && text.count >= fence.count && text.allSatisfy { $0 == fence.mark }
    }

    /// Whether it is a line across: three stars, dashes or underscores, or more.
    var isRule: Bool {
        guard indent < 4, let mark = trimmed.first, "-*_".utf8.contains(mark) else { return false }
        var count = 0
        for byte in bytes {
            if byte == mark { count += 1 } else if !byte.isBlank { return false }
        }
        return count >= 3
    }

    /// The level of a heading whose text is in the line before; nil for another line.
    var underline: Int? {
        let text = trimmed
        guard indent < 4, let mark = text.first, text.allSatisfy({ $0 == mark }) else { return nil }
        return mark == UInt8(ascii: "=") ? 1 : mark == UInt8(ascii: "-") ? 2 : nil
    }

    /// The line within a quotation; nil when it is in none.
    var quoted: MarkdownLine? {
        let indent = indent
        guard indent < 4, bytes.dropFirst(indent).first == UInt8(ascii: ">") else { return nil }
        let rest = dropping(indent + 1)
        return rest.bytes.first?.isBlank == true ? rest.dropping(1) : rest
    }

    /// The mark of an item of a list.
    struct Bullet {
        /// The character that the marks of a list share.
        let kind: UInt8
        /// The number; nil for a bullet.
        let number: Int?
        /// The blanks before the mark.
        let indent: Int
        /// How many bytes are before the text.
        let width: Int
        /// Whether nothing is behind the mark.
        let isEmpty: Bool
    }

    /// The mark of an item that it begins with.
    var bullet: Bullet? {
        let indent = indent
        let text = bytes.dropFirst(indent)
        guard let first = text.first else { return nil }
        var (kind, number, length) = (first, Int?.none, 1)
        if first.isASCIIDigit {
            let digits = text.prefix(10).prefix { $0.isASCIIDigit }
            guard digits.count < 10, let end = text.dropFirst(digits.count).first, ".)".utf8.contains(end) else {
                return nil
            }
            (kind, number, length) = (end, digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }, digits.count + 1)
        } else if !"-+*".utf8.contains(first) {
            return nil
        }
        let rest = text.dropFirst(length)
        if rest.allSatisfy(\.isBlank) {
            return Bullet(kind: kind, number: number, indent: indent, width: indent + length + 1, isEmpty: true)
        }
        guard rest.first?.isBlank == true, !isRule else { return nil }
        let blanks = rest.prefix(6).prefix { $0.isBlank }.count
        let width = indent + length + (blanks > 4 ? 1 : blanks)
        return Bullet(kind: kind, number: number, indent: indent, width: width, isEmpty: false)
    }
}
