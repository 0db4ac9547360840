/// Reads XML 1.0 in UTF-8 piece by piece, as far as feeds need it.
///
/// Whatever the bytes are, reading them ends, with pieces that are well nested or with a ``Problem``. Names are as written,
/// with their prefix. A document type is refused, since it brings entities that grow or come from elsewhere; depth, names
/// and attributes have limits. The document's length is for the caller to limit.
struct XMLReader {
    /// A part of a document.
    enum Piece: Hashable {
        case start(String, attributes: [String: String])
        /// What is between two tags may come in several pieces.
        case text(String)
        case end(String)
    }

    /// Why a document cannot be read on.
    struct Problem: Error, CustomStringConvertible {
        var line: Int
        var message: String

        var description: String { "line \(line): \(message)" }
    }

    static let maximumDepth = 100
    static let maximumAttributes = 64
    static let maximumNameLength = 200

    private let bytes: [UInt8]
    private var position = 0
    /// The elements that have begun and not ended.
    private var open: [String] = []
    /// `<name/>` is a start and an end.
    private var isEmptyElement = false
    private var hadRoot = false

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        _ = take("\u{FEFF}")
    }

    /// The next piece; nil at the end of a whole document.
    mutating func next() throws(Problem) -> Piece? {
        if isEmptyElement {
            isEmptyElement = false
            return open.popLast().map { .end($0) }
        }
        while let byte = peek {
            if byte != UInt8(ascii: "<") {
                let text = try decode(skip { $0 != UInt8(ascii: "<") })
                if !open.isEmpty { return .text(text) }
                guard text.utf8.allSatisfy(Self.isBlank) else { throw problem("text that is in no element") }
            } else if take("<!--") {
                _ = try skip(past: "-->", of: "a comment")
            } else if take("<![CDATA[") {
                let range = try skip(past: "]]>", of: "a CDATA section")
                guard !open.isEmpty else { throw problem("text that is in no element") }
                return .text(try text(range))
            } else if take("<?") {
                try checkEncoding(try text(skip(past: "?>", of: "an instruction")))
            } else if take("<!") {
                throw problem("a document type, which is not read")
            } else if take("</") {
                let name = try name()
                skipBlanks()
                guard take(">"), open.popLast() == name else { throw problem("</\(name)> ends nothing here") }
                return .end(name)
            } else {
                return try startTag()
            }
        }
        if let name = open.last { throw problem("the end, with <\(name)> still open") }
        guard hadRoot else { throw problem("there is no element") }
        return nil
    }

    private mutating func startTag() throws(Problem) -> Piece {
        position += 1
        let name = try name()
        guard !open.isEmpty || !hadRoot else { throw problem("<\(name)> after the document's end") }
        guard open.count < Self.maximumDepth else {
            throw problem("more than \(Self.maximumDepth) elements in another")
        }
        var attributes: [String: String] = [:]
        while true {
            let isApart = skipBlanks()
            isEmptyElement = take("/>")
            if isEmptyElement || take(">") { break }
            guard isApart else { throw problem("<\(name) does not end") }
            let key = try self.name()
            skipBlanks()
            guard take("="), attributes[key] == nil, attributes.count < Self.maximumAttributes else {
                throw problem("<\(name)> has attributes that cannot be read")
            }
            skipBlanks()
            guard let quote = peek, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
                throw problem("the attribute \(key) has no quotation marks")
            }
            position += 1
            attributes[key] = try decode(skip { $0 != quote && $0 != UInt8(ascii: "<") })
            guard peek == quote else { throw problem("the attribute \(key) does not end") }
            position += 1
        }
        hadRoot = true
        open.append(name)
        return .start(name, attributes: attributes)
    }

    private mutating func name() throws(Problem) -> String {
        let range = skip { byte in
            switch byte {
            case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, 0x80...0xFF: true
            default: byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
            }
        }
        let name = try text(range)
        guard let first = name.utf8.first, !(0x2D...0x39).contains(first), range.count <= Self.maximumNameLength else {
            throw problem("a tag or an attribute that has no name")
        }
        return name
    }

    /// Text as it is; XML's control characters are left to the caller.
    private func text(_ range: Range<Int>) throws(Problem) -> String {
        guard let text = String(validating: bytes[range], as: UTF8.self) else {
            throw problem("bytes that are no UTF-8")
        }
        return text
    }

    /// Text with its references to characters resolved.
    private func decode(_ range: Range<Int>) throws(Problem) -> String {
        let raw = try text(range)
        guard raw.utf8.contains(UInt8(ascii: "&")) else { return raw }
        let parts = raw.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        var decoded = String(parts.first.map { Substring($0) } ?? "")
        for part in parts.dropFirst() {
            let reference = String(Substring(part.prefix { $0 != UInt8(ascii: ";") }))
            guard let character = Self.character(reference), reference.utf8.count < part.count else {
                throw problem("&\(reference.prefix(20)), which is no character")
            }
            decoded.append(Character(character))
            decoded += Substring(part.dropFirst(reference.utf8.count + 1))
        }
        return decoded
    }

    private static func character(_ name: String) -> Unicode.Scalar? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.hasPrefix("#"), !name.contains("+") else { return nil }
            let number = name.hasPrefix("#x") ? UInt32(name.dropFirst(2), radix: 16) : UInt32(name.dropFirst())
            return number.flatMap(Unicode.Scalar.init)
        }
    }

    private func checkEncoding(_ instruction: String) throws(Problem) {
        let words = instruction.lowercased()
        guard words.hasPrefix("xml "), words.contains("encoding") else { return }
        guard words.contains("utf-8") || words.contains("us-ascii") else {
            throw problem("another encoding than UTF-8")
        }
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Goes past what is next, if it is that.
    private mutating func take(_ text: String) -> Bool {
        guard bytes[position...].starts(with: text.utf8) else { return false }
        position += text.utf8.count
        return true
    }

    /// Goes on for as long as the bytes are such.
    private mutating func skip(while isSkipped: (UInt8) -> Bool) -> Range<Int> {
        let start = position
        while let byte = peek, isSkipped(byte) { position += 1 }
        return start..<position
    }

    /// Goes past an end; what is before it.
    private mutating func skip(past end: String, of what: String) throws(Problem) -> Range<Int> {
        let start = position
        while position < bytes.count {
            let last = position
            if take(end) { return start..<last }
            position += 1
        }
        position = start
        throw problem("\(what) that does not end")
    }

    @discardableResult private mutating func skipBlanks() -> Bool { !skip(while: Self.isBlank).isEmpty }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0A).contains(byte) || byte == 0x0D }

    private func problem(_ message: String) -> Problem {
        Problem(line: bytes[..<position].count { $0 == 0x0A } + 1, message: message)
    }
}
