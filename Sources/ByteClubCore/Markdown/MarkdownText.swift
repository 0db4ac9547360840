extension Markdown {
    /// The text without marks, for previews: blocks and lines with a line break between them.
    ///
    /// Of a text with more bytes than are needed only the beginning is read.
    public static func plainText(of text: String, limit: Int) -> String {
        let source = text.utf8.count > 8 * limit + 1024 ? String(text.unicodeScalars.prefix(8 * limit + 1024)) : text
        return Markdown(source).plainText(limit: limit)
    }

    /// The title and the text behind it, without marks; a note without a heading has its first line for a title.
    public static func preview(of text: String, limit: Int) -> (title: String, text: String) {
        let lines = plainText(of: text, limit: limit + 200).split(separator: "\n", maxSplits: 1)
        let title = lines.first.map { String($0.prefix(120)) } ?? ""
        return (title, lines.count > 1 ? String(lines[1].prefix(limit)) : "")
    }

    /// The text without marks, at most so many characters.
    public func plainText(limit: Int = .max) -> String {
        var lines: [String] = []
        Self.add(blocks, to: &lines)
        var result = ""
        var room = limit
        for line in lines where !line.isEmpty && room > 0 {
            if !result.isEmpty {
                result += "\n"
                room -= 1
            }
            let part = line.prefix(room)
            result += part
            room -= part.count
        }
        return result
    }

    /// The text of a part of a line without marks.
    public static func plainText(_ inlines: [Inline]) -> String {
        var result = ""
        for inline in inlines {
            switch inline {
            case .text(let text), .code(let text): result += text
            case .emphasis(let inner), .strong(let inner), .strike(let inner), .link(let inner, _):
                result += plainText(inner)
            case .image(let text, _): result += text
            case .lineBreak: result += "\n"
            case .softBreak: result += " "
            }
        }
        return result
    }

    private static func add(_ blocks: [Block], to lines: inout [String]) {
        for block in blocks {
            switch block {
            case .heading(_, let inlines), .paragraph(let inlines): lines.append(plainText(inlines))
            case .list(let list):
                for (index, item) in list.items.enumerated() {
                    var inner: [String] = []
                    add(item.blocks, to: &inner)
                    let mark = item.task.map { $0.isDone ? "☑ " : "☐ " } ?? list.start.map { "\($0 + index). " } ?? "• "
                    if let first = inner.first { lines.append(mark + first) }
                    lines += inner.dropFirst()
                }
            case .quotation(let inner): add(inner, to: &lines)
            case .code(let text, _): lines += text.split(separator: "\n").map(String.init)
            case .table(let table):
                for row in [table.header] + table.rows {
                    lines.append(row.map { plainText($0) }.joined(separator: ", "))
                }
            case .rule: break
            }
        }
    }
}
