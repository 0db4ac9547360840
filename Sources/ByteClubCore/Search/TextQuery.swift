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

extension SharedFolder {
    /// Looks through all names and texts below a folder, one after the other; for folders in memory.
    ///
    /// - Parameters:
    ///   - path: The folder.
    ///   - query: The query.
    ///   - includeDeleted: Whether deleted entries that are the last at their paths are found as well.
    ///   - limit: The most entries.
    ///   - content: Returns the bytes of a file's version; nil when they are not stored.
    /// - Returns: The matching entries.
    /// - Throws: ``APIError`` 404 when the folder does not exist.
    public func searchTexts(
        _ path: RemotePath, query: TextQuery, includeDeleted: Bool, limit: Int,
        content: (FolderEntry) throws -> [UInt8]?
    ) throws -> TextSearchResults {
        guard let folder = try live(path) else { throw APIError.notFound(path) }
        let all = try state.changes(after: 0, prefix: folder.path.key, includeDeleted: includeDeleted, limit: .max)
        var found: [(entry: FolderEntry, isName: Bool, text: String?)] = []
        for entry in all where entry.path.key != folder.path.key {
            // What a move leaves behind is not deleted.
            if entry.isDeleted, try state.current(entry.node)?.revision != entry.revision { continue }
            let name = FoldedText(entry.path.name)
            let isName = query.matches(name: name)
            let version = entry.isDeleted ? try state.versions(entry.path.key, limit: 2).last : entry
            let text = try version.flatMap { $0.isFolder ? nil : try content($0) }.flatMap { FoldedText.text($0) }
            guard isName || text.map({ query.matches(name: name, text: FoldedText($0)) }) == true else { continue }
            found.append((entry, isName, text))
        }
        found.sort { ($0.isName ? 1 : 0, $0.entry.change) > ($1.isName ? 1 : 0, $1.entry.change) }
        let entries = try found.prefix(limit).map { match in
            var metadata = try describe(match.entry)
            metadata.snippet = match.text.flatMap { TextSnippet(of: $0, query) }
            return metadata
        }
        return TextSearchResults(entries, isComplete: true)
    }
}
