/// A note's Markdown as HTML: headings, paragraphs, lists, quotations, code, emphasis and links.
///
/// All text is escaped, raw HTML too; links lead to `http`, `https` and `mailto` only. Unsupported syntax is shown as
/// it is written. The work is linear in the note except for the length of a line, which is bounded.
struct NoteHTML {
    /// Longer lines are shown as they are.
    private static let longestLine = 8192

    /// The HTML.
    private(set) var html = ""
    private var paragraph: [Substring] = []
    /// The elements that are open: `ul`, `ol`, `blockquote` or `pre`.
    private var open: String?

    /// Renders a note.
    init(_ note: String) {
        for line in note.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" }) {
            take(line)
        }
        close()
    }

    private mutating func take(_ line: Substring) {
        if line.hasPrefix("```") {
            let wasCode = open == "pre"
            close()
            if !wasCode { begin("pre") }
        } else if open == "pre" {
            html += HTMLText().escapeText(String(line)) + "\n"
        } else if line.allSatisfy({ $0 == " " || $0 == "\t" }) {
            close()
        } else if let (level, text) = Self.heading(line) {
            close()
            // The page itself has the first level.
            html += "<h\(level + 1)>\(Self.inline(text))</h\(level + 1)>\n"
        } else if let (list, text) = Self.item(line) {
            if open != list {
                close()
                begin(list)
            }
            html += "<li>\(Self.inline(text))</li>\n"
        } else if line.hasPrefix(">") {
            if open != "blockquote" {
                close()
                begin("blockquote")
            }
            html += Self.inline(line.dropFirst().drop { $0 == " " }) + "<br>\n"
        } else {
            if open != nil { close() }
            paragraph.append(line)
        }
    }

    private mutating func begin(_ element: String) {
        html += "<\(element)>"
        open = element
    }

    private mutating func close() {
        if let element = open { html += "</\(element)>\n" }
        open = nil
        if !paragraph.isEmpty { html += "<p>\(paragraph.map(Self.inline).joined(separator: "<br>\n"))</p>\n" }
        paragraph = []
    }

    private static func heading(_ line: Substring) -> (level: Int, text: Substring)? {
        let marks = line.prefix { $0 == "#" }.count
        guard (1...5).contains(marks), line.dropFirst(marks).first == " " else { return nil }
        return (marks, line.dropFirst(marks + 1))
    }

    private static func item(_ line: Substring) -> (list: String, text: Substring)? {
        let line = line.drop { $0 == " " || $0 == "\t" }
        if let mark = line.first, "-*+".contains(mark), line.dropFirst().first == " " {
            return ("ul", line.dropFirst(2))
        }
        let digits = line.prefix { ("0"..."9").contains($0) }.count
        guard (1...9).contains(digits), line.dropFirst(digits).hasPrefix(". ") else { return nil }
        return ("ol", line.dropFirst(digits + 2))
    }

    // MARK: - Within a line

    private static func inline(_ line: Substring) -> String {
        let escape = { (text: Substring) in HTMLText().escapeText(String(text)) }
        if line.utf8.count > longestLine { return escape(line) }
        var (html, rest) = ("", line)
        // Once an end was not found, none of the rest is looked for again.
        var missing: Set<String> = []
        func enclosed(_ mark: String) -> Substring? {
            guard rest.hasPrefix(mark), !missing.contains(mark) else { return nil }
            let inside = rest.dropFirst(mark.count)
            guard let first = inside.first, first != " ", let end = inside.firstRange(of: mark) else {
                if inside.firstRange(of: mark) == nil { missing.insert(mark) }
                return nil
            }
            return inside[..<end.lowerBound]
        }
        while let character = rest.first {
            if let code = enclosed("`") {
                html += "<code>\(escape(code))</code>"
                rest = rest[code.endIndex...].dropFirst()
            } else if let strong = enclosed("**"), !strong.isEmpty {
                html += "<strong>\(escape(strong))</strong>"
                rest = rest[strong.endIndex...].dropFirst(2)
            } else if let emphasis = enclosed("*"), !emphasis.isEmpty {
                html += "<em>\(escape(emphasis))</em>"
                rest = rest[emphasis.endIndex...].dropFirst()
            } else if character == "[", let link = link(rest) {
                html += anchor(link.address, escape(link.text))
                rest = link.rest
            } else if let address = address(rest) {
                html += anchor(address, escape(address))
                rest = rest[address.endIndex...]
            } else {
                html += escape(rest.prefix(1))
                rest = rest.dropFirst()
            }
        }
        return html
    }

    private static func anchor(_ address: Substring, _ text: String) -> String {
        "<a href=\"\(HTMLText().escapeText(String(address)))\" rel=\"noreferrer\">\(text)</a>"
    }

    /// `[text](address)` at the beginning.
    private static func link(_ line: Substring) -> (text: Substring, address: Substring, rest: Substring)? {
        let inside = line.dropFirst()
        // By bytes, which is quick where many brackets are never closed.
        guard let middle = inside.utf8.prefix(512).firstIndex(of: UInt8(ascii: "]")) else { return nil }
        let behind = inside.utf8[middle...].dropFirst()
        guard behind.first == UInt8(ascii: "("),
            let end = behind.prefix(2048).firstIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let address = Substring(behind.dropFirst()[..<end])
        guard isAllowed(address) else { return nil }
        return (inside[..<middle], address, inside[inside.utf8.index(after: end)...])
    }

    /// A bare address at the beginning, without the mark that ends a sentence.
    private static func address(_ line: Substring) -> Substring? {
        guard line.hasPrefix("http://") || line.hasPrefix("https://") else { return nil }
        var address = line.prefix { !" \t<>\"')".contains($0) }
        while let last = address.last, ".,;:!?".contains(last) { address.removeLast() }
        return isAllowed(address) ? address : nil
    }

    private static func isAllowed(_ address: Substring) -> Bool {
        let folded = address.lowercased()
        return ["http://", "https://", "mailto:"].contains { folded.hasPrefix($0) && folded.count > $0.count }
            && address.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
    }
}
