/// A search in the names and texts of entries: for words that must all occur, in any case and with any accents.
///
/// Words in quotation marks, and characters of scripts without blanks, must follow one another. The last word may be
/// the beginning of one. All else in a query is a blank, so that nothing in it is ever an order to a database.
public struct TextQuery: Hashable, Sendable {
    /// Words that follow one another.
    struct Phrase: Hashable, Sendable {
        /// The words, folded.
        var words: [[UInt8]]
        /// Whether the last may be the beginning of a word.
        var isPrefix: Bool
    }

    /// The phrases, each different.
    let phrases: [Phrase]

    /// Reads a query as typed.
    ///
    /// - Throws: ``APIError`` 400 for a query without a letter or digit, and for one that is too long or has too many
    ///   words.
    public init(_ query: String) throws(APIError) {
        if query.utf8.count > SearchQuery.maximumBytes {
            throw APIError(400, "the query is longer than \(SearchQuery.maximumBytes) bytes", parameter: "query")
        }
        var phrases: [Phrase] = []
        let parts = query.split(omittingEmptySubsequences: false) { "\"“”„".contains($0) }
        for (index, part) in parts.enumerated() {
            let isQuoted = index % 2 == 1
            for text in isQuoted ? [part] : part.split(whereSeparator: \.isWhitespace) {
                let folded = FoldedText(String(text))
                guard !folded.words.isEmpty else { continue }
                let isLast = !isQuoted && index == parts.count - 1 && text.endIndex == query.endIndex
                phrases.append(Phrase(folded, isPrefix: isLast))
            }
        }
        if phrases.isEmpty { throw APIError(400, "no letter or digit in the search words", parameter: "query") }
        var seen: Set<Phrase> = []
        phrases.removeAll { !seen.insert($0).inserted }
        if phrases.count > SearchQuery.maximumWords {
            throw APIError(400, "the query has more than \(SearchQuery.maximumWords) words", parameter: "query")
        }
        self.phrases = phrases
    }

    /// The query in the language of SQLite's FTS5: quoted strings of letters, digits and blanks.
    public var expression: String {
        phrases.map { phrase in
            let words = phrase.words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
            return "\"\(words)\"" + (phrase.isPrefix ? "*" : "")
        }.joined(separator: " AND ")
    }

    /// Whether each phrase is in the name.
    public func matches(name: FoldedText) -> Bool { phrases.allSatisfy { $0.occurs(in: name) } }

    /// Whether each phrase is in the name or in the text.
    public func matches(name: FoldedText, text: FoldedText?) -> Bool {
        phrases.allSatisfy { phrase in phrase.occurs(in: name) || text.map { phrase.occurs(in: $0) } == true }
    }
}

extension TextQuery.Phrase {
    /// A letter alone is no beginning: nearly everything would begin with it.
    fileprivate init(_ folded: FoldedText, isPrefix: Bool) {
        words = folded.words.map { Array(folded.bytes[$0.start..<$0.end]) }
        let last = folded.words.last
        let letters = words.last.map { String(decoding: $0, as: UTF8.self).unicodeScalars.count } ?? 0
        self.isPrefix = isPrefix && last?.isCharacter == false && letters > 1
    }

    func occurs(in text: FoldedText) -> Bool { text.words.indices.contains { begins(at: $0, in: text) } }

    /// Whether the phrase begins at a word of a text.
    func begins(at index: Int, in text: FoldedText) -> Bool {
        guard index + words.count <= text.words.count else { return false }
        for (offset, word) in words.enumerated() {
            let place = text.words[index + offset]
            let length = place.end - place.start
            let isBeginning = isPrefix && offset == words.count - 1
            guard isBeginning ? length >= word.count : length == word.count,
                text.bytes[place.start..<place.start + word.count].elementsEqual(word)
            else { return false }
        }
        return true
    }
}

/// What a search in names and texts has found.
public struct TextSearchResults: Sendable {
    /// The entries, those first whose names match, and of these and of the others the last changed first; each has a
    /// snippet where its text matches.
    public var entries: [Metadata]
    /// Whether all that there is was looked at; false while many texts are new to the server.
    public var isComplete: Bool

    /// Creates a result.
    public init(_ entries: [Metadata], isComplete: Bool) {
        self.entries = entries
        self.isComplete = isComplete
    }
}
