@_spi(_Unicode) import Swift

/// The words of a search: each must occur in an entry's name, whatever its case and accents.
public struct SearchQuery: Hashable, Sendable {
    private let words: [String]

    /// Splits a query at blanks; nil when it has no word.
    public init?(_ query: String) {
        words = query.split(whereSeparator: \.isWhitespace).map { Self.fold(String($0)) }
        if words.isEmpty { return nil }
    }

    /// Tells whether every word occurs in the name.
    public func matches(_ name: String) -> Bool {
        var name = Self.fold(name)
        return name.withUTF8 { name in words.allSatisfy { unsafe Self.holds(name, $0.utf8) } }
    }

    /// Whether the bytes of a word occur in a text; both are folded alike.
    private static func holds(_ text: UnsafeBufferPointer<UInt8>, _ word: String.UTF8View) -> Bool {
        guard let first = word.first, text.count >= word.count else { return word.isEmpty }
        for start in 0...(text.count - word.count) where unsafe text[start] == first {
            if unsafe text[start..<(start + word.count)].elementsEqual(word) { return true }
        }
        return false
    }

    private static func fold(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
        var scalars = String.UnicodeScalarView()
        for scalar in text._nfd where scalar.properties.generalCategory != .nonspacingMark {
            scalars.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
        }
        return String(scalars)
    }
}
