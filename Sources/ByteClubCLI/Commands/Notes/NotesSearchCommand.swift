import ArgumentParser
import ByteClubCore

/// The command `byteclub notes search WORDS`.
struct NotesSearchCommand: QueryCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Search notes for words, in names and texts.",
        discussion: """
            Ignores letter case and accents; the last word may be incomplete. Words in quotation marks must follow \
            one another. Notes whose names match come first, then the most recently changed.

            To a pipe or file, prints one line for each note: name and the matching piece of text, separated by a \
            tab. With --json an entry is as in 'notes list', with a snippet if its text matches: an array of objects \
            with text and match.

            Examples:
              byteclub notes search car park
              byteclub notes search '"car park" key'
              byteclub notes search --names trip 2026
            """)

    @Argument(help: "The words, in any order and case.")
    var words: [String]

    @Flag(help: "Search only names, where a word may match any part.")
    var names = false

    @Option(help: "List at most this many notes, 1 to 1000.")
    var limit = 100

    @OptionGroup var options: RemoteOptions

    func validate() throws {
        guard (1...Self.mostMatches).contains(limit) else {
            throw ValidationError("--limit must be 1 to \(Self.mostMatches)")
        }
    }

    func run(in context: Context) async throws {
        let query = words.joined(separator: " ")
        guard query.utf8.contains(where: { $0 > 0x20 }) else { throw Failure(.usage, "no search words given") }
        let login = try context.login(flags: options.connection.settings)
        let (limit, names, photos) = (limit, names, try login.photos.key)
        let (found, hasMore) = try await context.withRemote(login) { remote in
            let texts = names ? nil : try await remote.powers().textSearch
            if texts == nil, !names { context.note("this server searches only names") }
            return try await Self.notes(in: login.notes, without: photos, upTo: limit) { limit in
                guard let texts else {
                    return TextSearchResults(
                        try await remote.search(login.notes, query: query, limit: limit), isComplete: true)
                }
                return try await texts.searchTexts(login.notes, query: Self.checked(query), limit: limit)
            }
        }
        if !found.isComplete {
            context.note("the server has not searched all notes; search again later, or for more words")
        }
        defer { if hasMore { context.note(Self.cut(found.entries.count)) } }
        if found.entries.isEmpty { context.noteEmpty("no notes match '\(query)'") }
        try context.print(NoteMatches(entries: found.entries, folder: login.notes), json: options.output.json)
    }

    /// The most results that a server returns.
    private static let mostMatches = 1000

    /// The note for a truncated list.
    private static func cut(_ count: Int) -> String {
        "first \(count) of more; " + (count < mostMatches ? "--limit shows more" : "narrow it with more words")
    }

    /// The notes to list, and whether more match.
    ///
    /// Requests one match more than `limit`, and as many as possible when some of them are not notes.
    private static func notes(
        in folder: RemotePath, without photos: PathKey, upTo limit: Int,
        _ ask: (Int) async throws -> TextSearchResults
    ) async throws -> (found: TextSearchResults, hasMore: Bool) {
        let most = min(limit + 1, mostMatches)
        var results = try await ask(most)
        let isCut = results.entries.count >= most
        func isNote(_ entry: Metadata) -> Bool {
            !entry.isFolder && !entry.isDeleted && entry.path.key.isBelow(folder.key)
                && !entry.path.key.isBelow(photos)
        }
        if isCut, most < mostMatches, !results.entries.allSatisfy(isNote) { results = try await ask(mostMatches) }
        let isFull = results.entries.count >= mostMatches
        let notes = results.entries.filter(isNote)
        // More notes may follow after so many photos with matching names.
        if isFull, notes.count < limit { results.isComplete = false }
        results.entries = Array(notes.prefix(limit))
        return (results, notes.count > limit || isFull && notes.count == limit)
    }

    private static func checked(_ query: String) throws -> String {
        do {
            _ = try TextQuery(query)
            return query
        } catch {
            throw Failure(.usage, error.message)
        }
    }
}

/// The results of a search in notes; as JSON an array of ``EntryObject``s.
struct NoteMatches: CommandResult {
    /// The notes in the order of printing.
    var entries: [Metadata]
    /// The folder that names are relative to.
    var folder: RemotePath

    var isVisible: Bool { true }

    /// On a terminal each name with the match below it; elsewhere the match follows after a tab.
    func text(_ style: TextStyle) -> String {
        entries.map { entry in
            let name = Failure.line(entry.path.name(below: folder))
            guard let snippet = entry.snippet else { return style.wrapped(name) }
            let piece = snippet.parts.map { part in
                let text = Failure.line(part.text)
                return part.isMatch ? style.emphasized(text) : text
            }.joined()
            guard let columns = style.columns else { return name + "\t" + piece }
            return style.wrapped(name) + "\n" + LineWrap.wrapped("    " + piece, to: columns, indent: 4)
        }.joined(separator: "\n")
    }

    func encode(to encoder: any Encoder) throws { try entries.map { EntryObject($0) }.encode(to: encoder) }
}
