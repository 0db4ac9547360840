extension Markdown {
    /// Some lines of a note as it is written, for programs that show the source itself.
    public enum SourcePart: Hashable, Sendable {
        /// Lines without anything special in them.
        case text(Range<Int>)
        /// A heading behind `#`.
        case heading(Range<Int>)
        /// A line that shows pictures; `isAlone` when there is nothing else in it.
        case pictures(Range<Int>, [Picture], isAlone: Bool)
    }

    /// A picture that a note shows.
    public struct Picture: Hashable, Sendable {
        /// The description; empty without one.
        public var text: String
        /// The target as it is written.
        public var target: String

        /// Creates a picture.
        public init(text: String, target: String) {
            self.text = text
            self.target = target
        }
    }

    /// The parts of a note's bytes in their order; together they are all of its bytes.
    ///
    /// Pictures are found as ``Markdown`` finds them, with two exceptions that stay text: those in tables, and those
    /// whose description goes on in the next line. Addresses with a scheme are no pictures of the club.
    public static func sourceParts(of note: [UInt8]) -> [SourcePart] {
        var scanner = MarkdownSourceScanner()
        var parts: [SourcePart] = []
        var (textStart, start) = (0, 0)
        while start < note.count {
            let end = (note[start...].firstIndex(of: UInt8(ascii: "\n")) ?? note.count - 1) + 1
            if let part = scanner.part(note[start..<end]) {
                if textStart < start { parts.append(.text(textStart..<start)) }
                parts.append(part)
                textStart = end
            }
            start = end
        }
        if textStart < note.count { parts.append(.text(textStart..<note.count)) }
        return parts
    }

    /// The file that a link or a picture of a note leads to; nil for one that is outside of the club's folder.
    ///
    /// A target is relative to the note's folder, or to the top with a slash in front.
    public static func path(of target: String, in note: RemotePath) -> RemotePath? {
        let bare = target.prefix { $0 != "#" && $0 != "?" }
        guard !bare.isEmpty, let text = HotSpot.decoded(bare) else { return nil }
        var components = text.hasPrefix("/") ? [] : note.parent?.components ?? []
        for component in text.split(separator: "/") {
            switch component {
            case ".": continue
            case "..": if components.popLast() == nil { return nil }
            default: components.append(String(component))
            }
        }
        let path = try? RemotePath(components.joined(separator: "/"))
        return path?.isRoot == false ? path : nil
    }
}

/// Looks at the lines of a note one by one.
private struct MarkdownSourceScanner {
    private typealias Fence = (mark: UInt8, count: Int, indent: Int, language: String)

    /// The lines of code that are open, and whether they are in a quotation.
    private var code: (fence: Fence, isQuoted: Bool)?
    private var isAfterBlank = true
    private var isInList = false

    /// The part that a line is; nil for text.
    mutating func part(_ bytes: ArraySlice<UInt8>) -> Markdown.SourcePart? {
        let range = bytes.startIndex..<bytes.endIndex
        var bytes = bytes
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        if range.lowerBound == 0, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        let line = MarkdownLine(number: 0, bytes: MarkdownLine.untabbed(bytes))
        defer { isAfterBlank = line.isBlank }
        if line.isBlank {
            if code?.isQuoted == true { code = nil }
            return nil
        }
        let (inner, isQuoted, isItem) = Self.content(of: line)
        if let (fence, wasQuoted) = code, wasQuoted == isQuoted || !wasQuoted {
            let text = MarkdownLine(number: 0, bytes: wasQuoted ? inner.trimmed : line.trimmed)
            if text.ends(fence) { code = nil }
            return nil
        }
        code = nil
        if isItem { isInList = true } else if isAfterBlank, line.indent == 0 { isInList = false }
        if let fence = inner.fence {
            code = (fence, isQuoted)
            return nil
        }
        if inner.indent >= 4, !isItem, isAfterBlank, !isInList { return nil }
        if !isQuoted, !isItem, inner.heading != nil { return .heading(range) }
        return Self.pictures(inner.trimmed, range)
    }

    /// A line without the marks of the lists and quotations that it is in.
    private static func content(of line: MarkdownLine) -> (MarkdownLine, isQuoted: Bool, isItem: Bool) {
        var (line, isQuoted, isItem) = (line, false, false)
        for _ in 0..<Markdown.deepest {
            if let quoted = line.quoted {
                (line, isQuoted) = (quoted, true)
            } else if let bullet = MarkdownLine(number: 0, bytes: line.trimmed).bullet, !bullet.isEmpty {
                line = MarkdownLine(number: 0, bytes: line.trimmed).dropping(bullet.width)
                isItem = true
            } else {
                break
            }
        }
        return (line, isQuoted, isItem)
    }

    private static func pictures(_ text: ArraySlice<UInt8>, _ range: Range<Int>) -> Markdown.SourcePart? {
        // A row of a table is shown as it is written, so that its columns stay.
        guard text.count <= 64 << 10, text.first != UInt8(ascii: "|"), text.contains(UInt8(ascii: "!")) else {
            return nil
        }
        var pictures: [Markdown.Picture] = []
        let isAlone = collect(MarkdownInlineParser.inlines(of: text), &pictures)
        return pictures.isEmpty ? nil : .pictures(range, pictures, isAlone: isAlone)
    }

    /// Adds the pictures of the club, and tells whether there is nothing else.
    private static func collect(_ inlines: [Markdown.Inline], _ pictures: inout [Markdown.Picture]) -> Bool {
        var isAlone = true
        for inline in inlines {
            switch inline {
            case .image(let text, let target) where !Markdown.hasScheme(target) && !target.hasPrefix("//"):
                pictures.append(Markdown.Picture(text: text, target: target))
            case .text(let text): if text.contains(where: { $0 != " " }) { isAlone = false }
            case .link(let inner, _), .emphasis(let inner), .strong(let inner), .strike(let inner):
                if !collect(inner, &pictures) { isAlone = false }
            case .lineBreak, .softBreak: continue
            case .code, .image: isAlone = false
            }
        }
        return isAlone
    }
}
