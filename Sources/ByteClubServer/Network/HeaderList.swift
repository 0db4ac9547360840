/// The elements of a header's value that is a list (RFC 9110, 5.6.1), without the blanks around them and without empty
/// ones.
enum HeaderList {
    /// Splits a list that knows no quotes.
    static func plain(_ value: String) -> [Substring] {
        value.utf8.split(separator: UInt8(ascii: ",")).map { trimmed(Substring($0)) }.filter { !$0.isEmpty }
    }

    /// Splits a list whose elements may hold commas in quotes.
    ///
    /// It is read from its end, where each proxy adds its own: so a quotation mark that an earlier one left open hides
    /// nothing of what later ones say.
    static func quoted(_ value: String) -> [Substring] {
        var elements: [Substring] = []
        var end = value.utf8.endIndex
        var index = end
        var isQuoted = false
        while index > value.utf8.startIndex {
            index = value.utf8.index(before: index)
            let byte = value.utf8[index]
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            guard byte == UInt8(ascii: ","), !isQuoted else { continue }
            elements.append(trimmed(value[value.utf8.index(after: index)..<end]))
            end = index
        }
        elements.append(trimmed(value[..<end]))
        return elements.reversed().filter { !$0.isEmpty }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let start = text.utf8.drop(while: isBlank)
        let end = start.lastIndex { !isBlank($0) }
        return end.map { Substring(start[...$0]) } ?? ""
    }
}
