/// A note as a tree: what people write in Markdown, read in a time that is linear in the text.
///
/// It knows headings, paragraphs, nested lists, tasks, tables, code, quotations, emphasis, links and pictures. Raw HTML
/// is text. What is nested deeper than ``deepest`` is shown as it is written.
public struct Markdown: Hashable, Sendable {
    /// How deep lists and quotations may be in each other.
    static let deepest = 12

    /// The blocks in their order.
    public var blocks: [Block]

    /// Reads a text.
    public init(_ text: String) {
        var bytes = Array(text.utf8)
        // A byte order mark.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        var parser = MarkdownParser()
        blocks = parser.blocks(of: MarkdownLine.lines(of: bytes), depth: 0)
    }

    /// A part of a text that has lines of its own.
    public indirect enum Block: Hashable, Sendable {
        /// A heading of a level from 1 to 6.
        case heading(level: Int, [Inline])
        /// A paragraph.
        case paragraph([Inline])
        /// A list.
        case list(List)
        /// A quotation.
        case quotation([Block])
        /// Lines of code, in a language when the text names one.
        case code(String, language: String)
        /// A table.
        case table(Table)
        /// A line across.
        case rule
    }

    /// A part of a line.
    public indirect enum Inline: Hashable, Sendable {
        /// Plain text.
        case text(String)
        /// Code.
        case code(String)
        /// A stressed text.
        case emphasis([Inline])
        /// An important text.
        case strong([Inline])
        /// A text that is crossed out.
        case strike([Inline])
        /// A link, with the target as it is written.
        case link([Inline], target: String)
        /// A picture, with its description and the target as it is written.
        case image(String, target: String)
        /// The end of a line that stays one.
        case lineBreak
        /// The end of a line in the source only.
        case softBreak
    }

    /// A list.
    public struct List: Hashable, Sendable {
        /// The number of the first item; nil for a list with bullets.
        public var start: Int?
        /// Whether no blank line is between its items.
        public var isTight: Bool
        /// The items.
        public var items: [Item]
    }

    /// An item of a list.
    public struct Item: Hashable, Sendable {
        /// What is to be done; nil for an ordinary item.
        public var task: Task?
        /// The contents.
        public var blocks: [Block]
    }

    /// Something to be done: an item that begins with `[ ]`, or `[x]` when it is done.
    public struct Task: Hashable, Sendable {
        /// Whether it is done.
        public var isDone: Bool
        /// The number of its line in the source, from 0.
        public var line: Int
    }

    /// A table.
    public struct Table: Hashable, Sendable {
        /// Where the text of a column stands.
        public enum Alignment: Hashable, Sendable {
            case natural, left, center, right
        }

        /// The columns.
        public var columns: [Alignment]
        /// The first row.
        public var header: [[Inline]]
        /// The other rows, each with at most as many cells as there are columns: a short row of a wide table must not
        /// become much longer than it is written.
        public var rows: [[[Inline]]]
    }
}

extension Markdown {
    /// The heading that the note begins with; nil when it begins with something else.
    public var title: [Inline]? {
        guard case .heading(_, let inlines)? = blocks.first else { return nil }
        return inlines
    }

    /// The targets of links and pictures that are no addresses with a scheme: other files of the club.
    public var relativeTargets: [String] {
        var found: [String] = []
        forEachInline { inline in
            switch inline {
            case .link(_, let target), .image(_, let target):
                if !Self.hasScheme(target) { found.append(target) }
            default: break
            }
        }
        return found
    }

    /// Calls a function with each link, picture and text, in their order.
    public func forEachInline(_ body: (Inline) -> Void) {
        Self.visit(blocks) { inlines in Self.visit(inlines, body) }
    }

    private static func visit(_ inlines: [Inline], _ body: (Inline) -> Void) {
        for inline in inlines {
            body(inline)
            switch inline {
            case .emphasis(let inner), .strong(let inner), .strike(let inner), .link(let inner, _): visit(inner, body)
            case .text, .code, .image, .lineBreak, .softBreak: break
            }
        }
    }

    private static func visit(_ blocks: [Block], _ body: ([Inline]) -> Void) {
        for block in blocks {
            switch block {
            case .heading(_, let inlines), .paragraph(let inlines): body(inlines)
            case .list(let list): for item in list.items { visit(item.blocks, body) }
            case .quotation(let inner): visit(inner, body)
            case .table(let table): for row in [table.header] + table.rows { for cell in row { body(cell) } }
            case .code, .rule: break
            }
        }
    }

    /// Whether a target begins with a scheme, as `https:` and `mailto:` do.
    public static func hasScheme(_ target: String) -> Bool {
        var bytes = target.utf8.makeIterator()
        guard let first = bytes.next(), first.isASCIILetter else { return false }
        while let byte = bytes.next() {
            if byte == UInt8(ascii: ":") { return true }
            guard byte.isASCIILetter || byte.isASCIIDigit || "+-.".utf8.contains(byte) else { return false }
        }
        return false
    }

    /// The source with a task's mark turned over; nil when that line has none.
    public static func toggled(line: Int, of text: String) -> String? {
        guard line >= 0 else { return nil }
        var bytes = Array(text.utf8)
        var start = 0
        for _ in 0..<line {
            guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            start = end + 1
        }
        let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
        // Behind the marks of quotations and of lists.
        guard let open = bytes[start..<end].firstIndex(of: UInt8(ascii: "[")), open + 2 < end,
            bytes[open + 2] == UInt8(ascii: "]"),
            bytes[start..<open].allSatisfy({ " \t>-+*.)0123456789".utf8.contains($0) }),
            let isDone = MarkdownParser.isDone(bytes[open + 1])
        else { return nil }
        bytes[open + 1] = UInt8(ascii: isDone ? " " : "x")
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    /// Whether it is a letter from A to Z.
    var isASCIILetter: Bool { (self | 0x20) >= 0x61 && (self | 0x20) <= 0x7A }
    /// Whether it is a digit.
    var isASCIIDigit: Bool { self >= 0x30 && self <= 0x39 }
    /// Whether it is a blank or a tab.
    var isBlank: Bool { self == 0x20 || self == 0x09 }
    /// Whether it is a mark of ASCII.
    var isASCIIMark: Bool { (0x21...0x7E).contains(self) && !isASCIILetter && !isASCIIDigit }
}
