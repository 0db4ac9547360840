@_spi(_Unicode) import Swift

/// The words of a search: each must occur in an entry's name, whatever its case and accents.
///
/// Checking a name needs time in proportion to its length, whatever the words are.
public struct SearchQuery: Hashable, Sendable {
    /// The longest query in bytes.
    public static let maximumBytes = 1000
    /// The most different words of a query.
    public static let maximumWords = 32

    private let words: [Word]

    /// Splits a query at blanks; words that another word contains say nothing, and are left out.
    ///
    /// - Throws: ``APIError`` 400 for a query without a word, and for one that is too long or has too many words.
    public init(_ query: String) throws(APIError) {
        if query.utf8.count > Self.maximumBytes {
            throw APIError(400, "the query is longer than \(Self.maximumBytes) bytes", parameter: "query")
        }
        let distinct = Set(query.split(whereSeparator: \.isWhitespace).map { Self.fold(String($0)) })
        if distinct.isEmpty { throw APIError(400, "the query is blank", parameter: "query") }
        // A query of this length has a few hundred words at most.
        var words: [Word] = []
        for text in distinct.sorted(by: { ($1.utf8.count, $1) < ($0.utf8.count, $0) }) {
            if words.contains(where: { $0.text.utf8.count > text.utf8.count && Word(text).occurs(in: $0.text) }) {
                continue
            }
            words.append(Word(text))
        }
        if words.count > Self.maximumWords {
            throw APIError(400, "the query has more than \(Self.maximumWords) words", parameter: "query")
        }
        self.words = words
    }

    /// Whether every word occurs in the name.
    public func matches(_ name: String) -> Bool {
        let name = Self.fold(name)
        return words.allSatisfy { $0.occurs(in: name) }
    }

    private static func fold(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
        var scalars = String.UnicodeScalarView()
        for scalar in text._nfd where scalar.properties.generalCategory != .nonspacingMark {
            scalars.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
        }
        return String(scalars)
    }

    /// A search for one word by the method of Knuth, Morris and Pratt, which reads each byte of a text once.
    private struct Word: Hashable {
        let text: String
        private let bytes: [UInt8]
        /// For each prefix of the word, the length of the longest shorter prefix that it ends with.
        private let borders: [Int]

        init(_ text: String) {
            self.text = text
            bytes = Array(text.utf8)
            var borders = [Int](repeating: 0, count: bytes.count)
            var length = 0
            for index in bytes.indices.dropFirst() {
                while length > 0, bytes[index] != bytes[length] { length = borders[length - 1] }
                if bytes[index] == bytes[length] { length += 1 }
                borders[index] = length
            }
            self.borders = borders
        }

        func occurs(in text: String) -> Bool {
            if bytes.isEmpty { return true }
            var length = 0
            for byte in text.utf8 {
                while length > 0, byte != bytes[length] { length = borders[length - 1] }
                if byte == bytes[length] { length += 1 }
                if length == bytes.count { return true }
            }
            return false
        }
    }
}
