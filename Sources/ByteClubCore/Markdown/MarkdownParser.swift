/// Reads the blocks of a text.
///
/// Each level of lists and quotations reads its lines once, and the levels are bounded.
struct MarkdownParser {
    private typealias Block = Markdown.Block

    /// The blocks of some lines.
    mutating func blocks(of lines: [MarkdownLine], depth: Int) -> [Markdown.Block] {
        var blocks: [Block] = []
        var paragraph: [MarkdownLine] = []
        var next = 0
        func close() {
            if !paragraph.isEmpty { blocks.append(.paragraph(Self.inlines(of: paragraph))) }
            paragraph = []
        }
        while next < lines.count {
            let line = lines[next]
            if line.isBlank {
                close()
                next += 1
            } else if line.indent >= 4, paragraph.isEmpty {
                blocks.append(Self.code(lines, &next))
            } else if line.indent >= 4 {
                paragraph.append(line)
                next += 1
            } else if let fence = line.fence {
                close()
                next += 1
                blocks.append(Self.code(lines, &next, fence))
            } else if let (level, text) = line.heading {
                close()
                blocks.append(.heading(level: level, MarkdownInlineParser.inlines(of: text)))
                next += 1
            } else if !paragraph.isEmpty, let level = line.underline {
                blocks.append(.heading(level: level, Self.inlines(of: paragraph)))
                paragraph = []
                next += 1
            } else if line.isRule {
                close()
                blocks.append(.rule)
                next += 1
            } else if depth < Markdown.deepest, line.quoted != nil {
                close()
                let inner = Self.quotation(lines, &next)
                blocks.append(.quotation(self.blocks(of: inner, depth: depth + 1)))
            } else if depth < Markdown.deepest, let bullet = line.bullet, paragraph.isEmpty || Self.interrupts(bullet) {
                close()
                blocks.append(.list(list(lines, &next, bullet, depth)))
            } else if let table = Self.table(lines, &next) {
                close()
                blocks.append(.table(table))
            } else {
                paragraph.append(line)
                next += 1
            }
        }
        close()
        return blocks
    }

    /// Whether a list may begin in the line after a paragraph's: `1984.` at the start of a line may be a sentence's end.
    private static func interrupts(_ bullet: MarkdownLine.Bullet) -> Bool {
        !bullet.isEmpty && bullet.number ?? 1 == 1
    }

    /// Whether a line goes on with the paragraph before it, wherever that is.
    private static func isParagraph(_ line: MarkdownLine) -> Bool {
        !line.isBlank && line.fence == nil && line.heading == nil && !line.isRule && line.quoted == nil
            && line.bullet == nil
    }

    private static func inlines(of paragraph: [MarkdownLine]) -> [Markdown.Inline] {
        var text: [UInt8] = []
        for (index, line) in paragraph.enumerated() {
            if index > 0 { text.append(UInt8(ascii: "\n")) }
            text += line.bytes.drop { $0.isBlank }
        }
        return MarkdownInlineParser.inlines(of: text[...])
    }

    // MARK: - Code

    private static func code(
        _ lines: [MarkdownLine], _ next: inout Int,
        _ fence: (mark: UInt8, count: Int, indent: Int, language: String)
    ) -> Block {
        var text: [UInt8] = []
        while next < lines.count {
            let line = lines[next]
            next += 1
            if line.ends(fence) { break }
            text += line.dropping(min(line.indent, fence.indent)).bytes + [UInt8(ascii: "\n")]
        }
        return .code(String(decoding: text, as: UTF8.self), language: fence.language)
    }

    private static func code(_ lines: [MarkdownLine], _ next: inout Int) -> Block {
        var text: [UInt8] = []
        var end = 0
        while next < lines.count, lines[next].isBlank || lines[next].indent >= 4 {
            let line = lines[next]
            text += line.dropping(min(line.indent, 4)).bytes + [UInt8(ascii: "\n")]
            if !line.isBlank { end = text.count }
            next += 1
        }
        return .code(String(decoding: text[..<end], as: UTF8.self), language: "")
    }

    // MARK: - Quotations

    private static func quotation(_ lines: [MarkdownLine], _ next: inout Int) -> [MarkdownLine] {
        var inner: [MarkdownLine] = []
        var isCode = false
        while next < lines.count {
            if let line = lines[next].quoted {
                if line.fence != nil { isCode.toggle() }
                inner.append(line)
            } else if !isCode, let last = inner.last, isParagraph(lines[next]), !last.isBlank, last.heading == nil {
                inner.append(lines[next])
            } else {
                break
            }
            next += 1
        }
        return inner
    }

    // MARK: - Lists

    private mutating func list(
        _ lines: [MarkdownLine], _ next: inout Int, _ first: MarkdownLine.Bullet, _ depth: Int
    ) -> Markdown.List {
        var list = Markdown.List(start: first.number, isTight: true, items: [])
        while next < lines.count, let bullet = lines[next].bullet, bullet.kind == first.kind,
            (bullet.number == nil) == (first.number == nil), bullet.indent < first.indent + 4
        {
            var item = [lines[next].dropping(bullet.width)]
            next += 1
            var blanks: [MarkdownLine] = []
            reading: while next < lines.count {
                let line = lines[next]
                if line.isBlank {
                    blanks.append(line.dropping(bullet.width))
                } else {
                    let indent = line.indent
                    // People indent by two blanks what belongs to an item with a number, too.
                    let isInner =
                        indent >= bullet.width || (indent >= bullet.indent + 2 && line.bullet != nil)
                    let isLazy = blanks.isEmpty && Self.isParagraph(line) && item.last.map { !$0.isBlank } ?? false
                    guard isInner || isLazy else { break reading }
                    // What stands further in belongs to an inner list.
                    if !blanks.isEmpty, line.bullet == nil, indent < bullet.width + 2 { list.isTight = false }
                    item += blanks
                    blanks = []
                    item.append(line.dropping(min(indent, bullet.width)))
                }
                next += 1
            }
            let task = Self.task(&item)
            list.items.append(Markdown.Item(task: task, blocks: blocks(of: item, depth: depth + 1)))
            let goesOn = next < lines.count && lines[next].bullet?.kind == first.kind
            if !blanks.isEmpty, goesOn { list.isTight = false }
        }
        return list
    }

    /// Takes the mark of a task off an item.
    private static func task(_ item: inout [MarkdownLine]) -> Markdown.Task? {
        guard let line = item.first, line.bytes.count >= 3 else { return nil }
        let start = line.bytes.startIndex
        guard line.bytes[start] == UInt8(ascii: "["), line.bytes[start + 2] == UInt8(ascii: "]"),
            let isDone = isDone(line.bytes[start + 1]), line.bytes.dropFirst(3).first.map(\.isBlank) ?? true
        else { return nil }
        item[0] = line.dropping(min(4, line.bytes.count))
        return Markdown.Task(isDone: isDone, line: line.number)
    }

    /// Whether the character between the brackets says that a task is done; nil for any other character.
    static func isDone(_ byte: UInt8) -> Bool? {
        switch byte {
        case UInt8(ascii: "x"), UInt8(ascii: "X"): true
        case UInt8(ascii: " "): false
        default: nil
        }
    }

    // MARK: - Tables

    private static let mostColumns = 64

    private static func table(_ lines: [MarkdownLine], _ next: inout Int) -> Markdown.Table? {
        guard next + 1 < lines.count, lines[next].bytes.contains(UInt8(ascii: "|")),
            let columns = columns(lines[next + 1]), columns.count <= mostColumns
        else { return nil }
        let header = cells(lines[next])
        guard header.count == columns.count else { return nil }
        next += 2
        var rows: [[[Markdown.Inline]]] = []
        while next < lines.count, !lines[next].isBlank, lines[next].bytes.contains(UInt8(ascii: "|")) {
            rows.append(cells(lines[next]).prefix(columns.count).map { MarkdownInlineParser.inlines(of: $0) })
            next += 1
        }
        return Markdown.Table(
            columns: columns, header: header.map { MarkdownInlineParser.inlines(of: $0) }, rows: rows)
    }

    /// The columns, when the line is the one below a table's head, as in `| --- | :-: |`.
    private static func columns(_ line: MarkdownLine) -> [Markdown.Table.Alignment]? {
        guard line.bytes.contains(UInt8(ascii: "-")), line.bytes.allSatisfy({ "|-: \t".utf8.contains($0) }) else {
            return nil
        }
        var columns: [Markdown.Table.Alignment] = []
        for cell in cells(line) {
            let left = cell.first == UInt8(ascii: ":")
            let right = cell.count > 1 && cell.last == UInt8(ascii: ":")
            let dashes = cell.dropFirst(left ? 1 : 0).dropLast(right ? 1 : 0)
            guard !dashes.isEmpty, dashes.allSatisfy({ $0 == UInt8(ascii: "-") }) else { return nil }
            columns.append(left ? (right ? .center : .left) : (right ? .right : .natural))
        }
        // One dash below a line is a heading, and no table.
        return line.bytes.contains(UInt8(ascii: "|")) ? columns : nil
    }

    /// The cells of a row; a bar behind a backslash is none.
    private static func cells(_ line: MarkdownLine) -> [ArraySlice<UInt8>] {
        var text = line.trimmed
        if text.first == UInt8(ascii: "|") { text.removeFirst() }
        var cells: [ArraySlice<UInt8>] = []
        var (cell, isEscaped) = ([UInt8](), false)
        for byte in text {
            if byte == UInt8(ascii: "|"), !isEscaped {
                cells.append(MarkdownLine.trim(cell[...]))
                cell = []
            } else {
                if byte == UInt8(ascii: "|") { cell.removeLast() }
                cell.append(byte)
            }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        let rest = MarkdownLine.trim(cell[...])
        if !rest.isEmpty || text.last != UInt8(ascii: "|") { cells.append(rest) }
        return cells
    }
}
