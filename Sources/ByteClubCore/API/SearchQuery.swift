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
        let name = Self.fold(name)
        return words.allSatisfy { name.contains($0) }
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
