import ExampleSupport

/// Reads XML 1.0 in UTF-8 piece by piece, as far as feeds need it.
///
/// Reading always ends, with well nested pieces or with a ``Failure``. A document type is refused, since its entities
/// may grow or refer to other files; depth and attributes are limited. The caller limits the document's length.
struct XMLReader {
    /// A part of a document; the text between two tags may consist of several pieces.
    enum Piece {
        case start(String, attributes: [String: String])
        case text(String)
        case end
    }

    private let bytes: [UInt8]
    private var position = 0
    /// The open elements.
    private var open: [String] = []
    /// Whether the last start tag was `<name/>`.
    private var isEmptyElement = false
    private var hadRoot = false

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        _ = skip("\u{FEFF}")
    }

    /// The next piece; nil at the end of a complete document.
    mutating func next() throws(Failure) -> Piece? {
        if isEmptyElement {
            isEmptyElement = false
            open.removeLast()
            return .end
        }
        while position < bytes.count {
            if skip("<!--") {
                _ = try text(before: "-->")
            } else if skip("<![CDATA[") {
                guard !open.isEmpty else { throw problem("text that is in no element") }
                return .text(try text(before: "]]>"))
            } else if skip("<?") {
                let words = try text(before: "?>").lowercased()
                if words.hasPrefix("xml "), words.contains("encoding"), !words.contains("utf-8"),
                    !words.contains("us-ascii")
                {
                    throw problem("another encoding than UTF-8")
                }
            } else if skip("<!") {
                throw problem("a document type, which is not read")
            } else if skip("</") {
                let name = try name()
                skipBlanks()
                guard skip(">"), open.popLast() == name else { throw problem("</\(name)> ends nothing here") }
                return .end
            } else if skip("<") {
                return try startTag()
            } else {
                let text = try decoded(text { $0 != UInt8(ascii: "<") })
                if !open.isEmpty { return .text(text) }
                guard text.utf8.allSatisfy(Self.isBlank) else { throw problem("text that is in no element") }
            }
        }
        if let name = open.last { throw problem("the end, with <\(name)> still open") }
        guard hadRoot else { throw problem("there is no element") }
        return nil
    }

    private mutating func startTag() throws(Failure) -> Piece {
        let name = try name()
        guard !open.isEmpty || !hadRoot else { throw problem("<\(name)> after the document's end") }
        guard open.count < 100 else { throw problem("more than 100 elements in another") }
        var attributes: [String: String] = [:]
        while true {
            let isApart = skipBlanks()
            isEmptyElement = skip("/>")
            if isEmptyElement || skip(">") { break }
            let key = try self.name()
            skipBlanks()
            guard isApart, skip("="), attributes[key] == nil, attributes.count < 64 else {
                throw problem("<\(name)> has attributes that cannot be read")
            }
            skipBlanks()
            let quote = skip("\"") ? "\"" : "'"
            guard quote == "\"" || skip("'") else { throw problem("the attribute \(key) has no quotation marks") }
            attributes[key] = try decoded(text(before: quote))
        }
        hadRoot = true
        open.append(name)
        return .start(name, attributes: attributes)
    }

    private mutating func name() throws(Failure) -> String {
        let name = try text { !Self.isBlank($0) && !"<>/='\"&".utf8.contains($0) }
        guard !name.isEmpty else { throw problem("a tag or an attribute that has no name") }
        return name
    }

    /// Replaces character references in a text.
    private func decoded(_ raw: String) throws(Failure) -> String {
        let parts = raw.split(separator: "&", omittingEmptySubsequences: false)
        var text = String(parts.first ?? "")
        for part in parts.dropFirst() {
            let name = part.prefix { $0 != ";" }
            guard let scalar = Self.scalar(String(name)), name.endIndex < part.endIndex else {
                throw problem("&\(name.prefix(20)), which is no character")
            }
            text.unicodeScalars.append(scalar)
            text += part[name.endIndex...].dropFirst()
        }
        return text
    }

    private static func scalar(_ name: String) -> Unicode.Scalar? {
        let names: [String: Unicode.Scalar] = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
        if let known = names[name] { return known }
        guard name.hasPrefix("#"), !name.contains("+") else { return nil }
        let number = name.hasPrefix("#x") ? UInt32(name.dropFirst(2), radix: 16) : UInt32(name.dropFirst())
        return number.flatMap(Unicode.Scalar.init)
    }

    /// Skips a mark; false if it does not follow.
    private mutating func skip(_ mark: String) -> Bool {
        guard bytes[position...].starts(with: mark.utf8) else { return false }
        position += mark.utf8.count
        return true
    }

    @discardableResult private mutating func skipBlanks() -> Bool {
        let start = position
        while position < bytes.count, Self.isBlank(bytes[position]) { position += 1 }
        return position > start
    }

    /// The text of the following bytes that meet a condition.
    private mutating func text(while isWanted: (UInt8) -> Bool) throws(Failure) -> String {
        let start = position
        while position < bytes.count, isWanted(bytes[position]) { position += 1 }
        return try text(start..<position)
    }

    /// The text up to a mark, which is skipped.
    private mutating func text(before mark: String) throws(Failure) -> String {
        let start = position
        while position < bytes.count {
            let end = position
            if skip(mark) { return try text(start..<end) }
            position += 1
        }
        position = start
        throw problem("the end, without a \(mark)")
    }

    private func text(_ range: Range<Int>) throws(Failure) -> String {
        guard let text = String(validating: bytes[range], as: UTF8.self) else {
            throw problem("bytes that are no UTF-8")
        }
        return text
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    private func problem(_ message: String) -> Failure {
        Failure(.badData, "this is no podcast feed: line \(bytes[..<position].count { $0 == 0x0A } + 1): \(message)")
    }
}
