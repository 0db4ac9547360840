/// Reads what is in a line or a paragraph.
///
/// The ends of code and of brackets are looked up once for the whole text; emphasis is a stack of open marks, whose
/// height is bounded. So no text takes longer than its length asks for.
struct MarkdownInlineParser {
    private typealias Inline = Markdown.Inline

    /// How many marks may be open at once; more are text.
    private static let mostOpen = 24
    /// The most marks in a row that are emphasis, so that elements are never deep in each other.
    private static let longestRun = 6
    /// The longest target of a link, in bytes.
    private static let longestTarget = 512

    private let text: ArraySlice<UInt8>
    /// For the start of each run of backticks the start of the next run of the same length.
    private var codeEnds: [Int: Int] = [:]
    /// For each opening bracket its closing one.
    private var brackets: [Int: Int] = [:]
    /// Where the last target can end.
    private let lastEnd: Int?
    /// The marks that are open, with what came after each.
    private var frames: [Frame] = [Frame(mark: 0, count: 0)]
    /// Plain text that is not in the last frame yet.
    private var plain: [UInt8] = []

    private struct Frame {
        let mark: UInt8
        var count: Int
        var canClose = false
        var children: [Markdown.Inline] = []
    }

    /// The parts of a text.
    static func inlines(of text: ArraySlice<UInt8>) -> [Markdown.Inline] {
        var text = text
        while let last = text.last, last.isBlank || last == 0x0A { text.removeLast() }
        var parser = MarkdownInlineParser(text)
        parser.look()
        return parser.inlines(text.startIndex, text.endIndex, inLink: false)
    }

    private init(_ text: ArraySlice<UInt8>) {
        self.text = text
        lastEnd = text.lastIndex(of: UInt8(ascii: ")"))
    }

    // MARK: - Looking ahead

    /// Finds the ends of code and of brackets.
    private mutating func look() {
        lookForCode()
        var open: [Int] = []
        var index = text.startIndex
        while index < text.endIndex {
            switch text[index] {
            case UInt8(ascii: "\\"): index += 1
            case UInt8(ascii: "`"):
                let length = run(at: index)
                index = (codeEnds[index] ?? index) + length - 1
            case UInt8(ascii: "["): open.append(index)
            case UInt8(ascii: "]"):
                if let start = open.popLast(), index + 1 < text.endIndex, text[index + 1] == UInt8(ascii: "(") {
                    brackets[start] = index
                }
            default: break
            }
            index += 1
        }
    }

    private mutating func lookForCode() {
        var runs: [(start: Int, length: Int)] = []
        var index = text.startIndex
        while index < text.endIndex {
            if text[index] == UInt8(ascii: "`") {
                let length = run(at: index)
                runs.append((index, length))
                index += length
            } else {
                index += 1
            }
        }
        var last: [Int: Int] = [:]
        for (start, length) in runs.reversed() {
            codeEnds[start] = last[length]
            last[length] = start
        }
    }

    /// How often the byte at a place is repeated there.
    private func run(at start: Int) -> Int {
        var end = start
        while end < text.endIndex, text[end] == text[start] { end += 1 }
        return end - start
    }

    // MARK: - Reading

    private mutating func inlines(_ start: Int, _ end: Int, inLink: Bool) -> [Markdown.Inline] {
        var index = start
        while index < end {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "\\") where index + 1 < end && text[index + 1] == 0x0A:
                add(.lineBreak)
                index += 2
            case UInt8(ascii: "\\") where index + 1 < end && text[index + 1].isASCIIMark:
                plain.append(text[index + 1])
                index += 2
            case 0x0A:
                let blanks = plain.reversed().prefix { $0 == 0x20 }.count
                plain.removeLast(blanks)
                add(blanks >= 2 ? .lineBreak : .softBreak)
                index += 1
            case UInt8(ascii: "`"):
                index = code(at: index, end)
            case UInt8(ascii: "!") where index + 1 < end && text[index + 1] == UInt8(ascii: "["):
                if let link = link(at: index + 1, end) {
                    add(.image(Self.words(text[link.text]), target: link.target))
                    index = link.end
                } else {
                    plain.append(byte)
                    index += 1
                }
            case UInt8(ascii: "[") where !inLink:
                index = link(startingAt: index, end)
            case UInt8(ascii: "<") where !inLink:
                index = pointed(at: index, end)
            case UInt8(ascii: "h") where !inLink:
                index = address(at: index, end, from: start)
            case UInt8(ascii: "*"), UInt8(ascii: "_"), UInt8(ascii: "~"):
                index = marks(at: index, start, end)
            default:
                plain.append(byte)
                index += 1
            }
        }
        flush()
        collapse(to: 0)
        return frames[0].children
    }

    private mutating func flush() {
        if plain.isEmpty { return }
        frames[frames.count - 1].children.append(.text(String(decoding: plain, as: UTF8.self)))
        plain = []
    }

    private mutating func add(_ inline: Markdown.Inline) {
        flush()
        frames[frames.count - 1].children.append(inline)
    }

    private mutating func code(at start: Int, _ end: Int) -> Int {
        let length = run(at: start)
        guard let close = codeEnds[start], close + length <= end else {
            plain += text[start..<min(start + length, end)]
            return start + length
        }
        var code = text[start + length..<close].map { $0 == 0x0A ? 0x20 : $0 }
        // A blank on both sides keeps a backtick apart, and is not part of the code.
        if code.count > 2, code.first == 0x20, code.last == 0x20 { code = Array(code.dropFirst().dropLast()) }
        add(.code(String(decoding: code, as: UTF8.self)))
        return close + length
    }

    // MARK: - Links

    private mutating func link(startingAt start: Int, _ end: Int) -> Int {
        guard let link = link(at: start, end) else {
            plain.append(text[start])
            return start + 1
        }
        var inner = self
        inner.frames = [Frame(mark: 0, count: 0)]
        inner.plain = []
        let parts = inner.inlines(link.text.lowerBound, link.text.upperBound, inLink: true)
        add(.link(parts.isEmpty ? [.text(link.target)] : parts, target: link.target))
        return link.end
    }

    /// `[text](target "title")` at a place; nil when there is none.
    private func link(at start: Int, _ end: Int) -> (text: Range<Int>, target: String, end: Int)? {
        guard let close = brackets[start], close < end, let lastEnd, lastEnd > close else { return nil }
        var index = close + 2
        let last = min(end, index + Self.longestTarget)
        while index < last, text[index].isBlank { index += 1 }
        var target: ArraySlice<UInt8>
        if index < last, text[index] == UInt8(ascii: "<") {
            guard let stop = text[index..<last].firstIndex(of: UInt8(ascii: ">")) else { return nil }
            target = text[index + 1..<stop]
            index = stop + 1
        } else {
            let first = index
            var depth = 0
            while index < last, !text[index].isBlank, text[index] > 0x20 {
                if text[index] == UInt8(ascii: "(") { depth += 1 }
                if text[index] == UInt8(ascii: ")") {
                    if depth == 0 { break }
                    depth -= 1
                }
                index += 1
            }
            target = text[first..<index]
        }
        while index < last, text[index].isBlank { index += 1 }
        if index < last, let quote = [UInt8(ascii: "\""), UInt8(ascii: "'")].first(where: { $0 == text[index] }) {
            guard let stop = text[index + 1..<last].firstIndex(of: quote) else { return nil }
            index = stop + 1
            while index < last, text[index].isBlank { index += 1 }
        }
        guard index < last, text[index] == UInt8(ascii: ")"), !target.isEmpty,
            target.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return nil }
        return (
            start + 1..<close, String(decoding: target.filter { $0 != UInt8(ascii: "\\") }, as: UTF8.self), index + 1
        )
    }

    /// The text of a picture's description without marks.
    private static func words(_ text: ArraySlice<UInt8>) -> String {
        String(decoding: text.filter { !"*_`[]\\".utf8.contains($0) }.map { $0 == 0x0A ? 0x20 : $0 }, as: UTF8.self)
    }

    /// `<https://a.example>` or `<a@b.example>`.
    private mutating func pointed(at start: Int, _ end: Int) -> Int {
        let last = min(end, start + Self.longestTarget)
        var index = start + 1
        while index < last, text[index] > 0x20, text[index] != UInt8(ascii: "<"), text[index] != UInt8(ascii: ">") {
            index += 1
        }
        let inside = text[start + 1..<max(start + 1, index)]
        let isAddress = Self.schemes.contains { inside.starts(with: $0) && inside.count > $0.count }
        let isMail = !isAddress && inside.contains(UInt8(ascii: "@")) && !inside.contains(UInt8(ascii: ":"))
        guard index < last, text[index] == UInt8(ascii: ">"), isAddress || isMail else {
            plain.append(text[start])
            return start + 1
        }
        let words = String(decoding: inside, as: UTF8.self)
        add(.link([.text(words)], target: isMail ? "mailto:" + words : words))
        return index + 1
    }

    private static let schemes = ["http://", "https://"].map { Array($0.utf8) }

    /// A bare address, without the marks that end a sentence.
    private mutating func address(at start: Int, _ end: Int, from first: Int) -> Int {
        let isInWord = start > first && (text[start - 1].isASCIILetter || text[start - 1].isASCIIDigit)
        guard !isInWord, let scheme = Self.schemes.first(where: { text[start..<end].starts(with: $0) }) else {
            plain.append(text[start])
            return start + 1
        }
        var index = start
        var depth = 0
        while index < end, text[index] > 0x20, !"<>\"`|".utf8.contains(text[index]) {
            if text[index] == UInt8(ascii: "(") { depth += 1 }
            if text[index] == UInt8(ascii: ")") { depth -= 1 }
            index += 1
        }
        while index > start, let last = Optional(text[index - 1]),
            ".,;:!?'*_~".utf8.contains(last) || (last == UInt8(ascii: ")") && depth < 0)
        {
            if last == UInt8(ascii: ")") { depth += 1 }
            index -= 1
        }
        guard index - start > scheme.count else {
            plain.append(text[start])
            return start + 1
        }
        let words = String(decoding: text[start..<index], as: UTF8.self)
        add(.link([.text(words)], target: words))
        return index
    }

    // MARK: - Emphasis

    private mutating func marks(at start: Int, _ first: Int, _ end: Int) -> Int {
        let mark = text[start]
        let length = min(run(at: start), end - start)
        let (before, after) = (kind(before: start, first), kind(at: start + length, end))
        let opens = after != .blank && (after != .mark || before != .letter)
        let closes = before != .blank && (before != .mark || after != .letter)
        let canOpen = opens && (mark != UInt8(ascii: "_") || !closes || before == .mark)
        let canClose = closes && (mark != UInt8(ascii: "_") || !opens || after == .mark)
        guard mark != UInt8(ascii: "~") || length == 2, length <= Self.longestRun, canOpen || canClose else {
            plain += text[start..<start + length]
            return start + length
        }
        flush()
        var left = length
        if canClose { left = close(mark, left, canOpen: canOpen) }
        if left > 0 {
            if canOpen, frames.count <= Self.mostOpen {
                frames.append(Frame(mark: mark, count: left, canClose: canClose))
            } else {
                plain += [UInt8](repeating: mark, count: left)
            }
        }
        return start + length
    }

    /// Closes what is open with these marks, and returns how many of them are left.
    private mutating func close(_ mark: UInt8, _ length: Int, canOpen: Bool) -> Int {
        var left = length
        while left > 0 {
            let match = frames.indices.dropFirst().last { index in
                let frame = frames[index]
                guard frame.mark == mark else { return false }
                // As CommonMark has it: `*a**b*` is one emphasis.
                let isOdd = (canOpen || frame.canClose) && (frame.count + left) % 3 == 0
                return !isOdd || (frame.count % 3 == 0 && left % 3 == 0)
            }
            guard let match else { return left }
            collapse(to: match)
            let used = min(2, frames[match].count, left)
            let inner = frames[match].children
            let inline: Markdown.Inline =
                mark == UInt8(ascii: "~") ? .strike(inner) : used == 2 ? .strong(inner) : .emphasis(inner)
            left -= used
            frames[match].count -= used
            if frames[match].count == 0 {
                frames.removeLast()
                frames[match - 1].children.append(inline)
            } else {
                frames[match].children = [inline]
            }
        }
        return 0
    }

    /// Makes text of the marks above a frame.
    private mutating func collapse(to height: Int) {
        for frame in frames[(height + 1)...] {
            frames[height].children.append(
                .text(String(repeating: Character(Unicode.Scalar(frame.mark)), count: frame.count)))
            frames[height].children += frame.children
        }
        frames.removeLast(frames.count - height - 1)
    }

    private enum Kind { case blank, letter, mark }

    private func kind(before index: Int, _ first: Int) -> Kind {
        guard index > first else { return .blank }
        let byte = text[index - 1]
        if byte >= 0x80 {
            // Quotation marks and dashes, which are of two bytes from C2 and of three from E2 80.
            if index - 2 >= first, text[index - 2] == 0xC2, byte <= 0xBF { return .mark }
            let isMark = index - 3 >= first && text[index - 3] == 0xE2 && text[index - 2] == 0x80
            return isMark ? .mark : .letter
        }
        return byte <= 0x20 ? .blank : byte.isASCIIMark ? .mark : .letter
    }

    private func kind(at index: Int, _ end: Int) -> Kind {
        guard index < end else { return .blank }
        let byte = text[index]
        if byte == 0xC2 { return .mark }
        if byte == 0xE2, index + 1 < end, text[index + 1] == 0x80 { return .mark }
        if byte >= 0x80 { return .letter }
        return byte <= 0x20 ? .blank : byte.isASCIIMark ? .mark : .letter
    }
}
