import ByteClubCore
import GRDB

/// One search in the index and in later changes, with bounded cost.
struct TextSearch {
    /// The most entries that are looked at though they are not in the index.
    private static let mostPending = 256
    /// The most bytes of texts of such entries.
    private static let pendingBytes = 1 << 20
    /// The most entries of the index that are looked at: most of them are somewhere else when the folder is small.
    private static let mostCandidates = 10_000
    /// The most bytes of texts that are searched for places to show.
    private static let snippetBytes = 1 << 20

    private static let selectMatches = """
        SELECT \(SQLiteFolderState.columns), s.id, s.hash FROM search_index
        CROSS JOIN searchable s ON s.id = search_index.rowid CROSS JOIN node n ON n.id = s.node
        CROSS JOIN version v ON v.revision = n.revision
        WHERE search_index MATCH ? ORDER BY search_index.rowid DESC LIMIT \(mostCandidates + 1)
        """

    struct Match {
        var entry: FolderEntry
        var hash: ContentHash?
    }

    let query: TextQuery
    let folder: PathKey
    let includeDeleted: Bool
    let limit: Int
    let index: SearchIndex

    private(set) var isComplete = true
    private(set) var found: [Match] = []
    private(set) var nodes: Set<NodeID> = []
    /// The entries that are looked at one by one.
    private(set) var pending: Set<NodeID> = []

    /// Looks for the entries, and describes those that are found.
    mutating func run(describe: (FolderEntry) throws -> Metadata) throws -> TextSearchResults {
        try find()
        return TextSearchResults(try described(describe), isComplete: isComplete)
    }

    /// Looks for the entries.
    mutating func find() throws {
        let fresh = try scanPending()
        take(fresh.names)
        try findIndexed("name : (\(query.expression))")
        take(fresh.texts)
        try findIndexed(query.expression)
    }

    /// Searches entries that are not in the index yet, the last changed first.
    private mutating func scanPending() throws -> (names: [Match], texts: [Match]) {
        var pending = try index.pending(after: index.mark(), limit: Self.mostPending + 1)
        if pending.count > Self.mostPending {
            isComplete = false
            pending.removeLast()
        }
        var (names, others): ([Match], [Match]) = ([], [])
        var bytes: Int64 = 0
        for next in pending.sorted(by: { $0.entry.change > $1.entry.change }) {
            if next.isIndexed { continue }
            self.pending.insert(next.entry.node)
            guard try isWanted(next.entry) else { continue }
            let match = Match(entry: next.entry, hash: next.hash)
            let name = FoldedText(next.entry.path.name)
            if query.matches(name: name) {
                names.append(match)
                continue
            }
            if bytes > Self.pendingBytes {
                isComplete = false
                continue
            }
            guard let text = try next.hash.flatMap({ try index.text($0) }) else { continue }
            bytes += Int64(text.utf8.count)
            if query.matches(name: name, text: FoldedText(text)) { others.append(match) }
        }
        return (names, others)
    }

    private mutating func findIndexed(_ expression: String) throws {
        if found.count >= limit { return }
        let rows = try Row.fetchCursor(
            index.database.cachedStatement(sql: Self.selectMatches), arguments: [expression])
        var candidates = 0
        while found.count < limit, let row = try rows.next() {
            candidates += 1
            if candidates > Self.mostCandidates {
                isComplete = false
                break
            }
            let entry = try SQLiteFolderState.entry(row)
            let id: Int64 = row[SearchIndex.afterEntry]
            guard !pending.contains(entry.node), entry.isDeleted || entry.change == id, try isWanted(entry) else {
                continue
            }
            take([Match(entry: entry, hash: row.hash(SearchIndex.afterEntry + 1))])
        }
    }

    private func isWanted(_ entry: FolderEntry) throws -> Bool {
        guard entry.path.key.isBelow(folder) else { return false }
        if !entry.isDeleted { return true }
        guard includeDeleted else { return false }
        return try index.database.hasRow("SELECT 1 FROM latest WHERE revision = ?", [entry.revision])
    }

    private mutating func take(_ matches: [Match]) {
        for match in matches where found.count < limit && nodes.insert(match.entry.node).inserted {
            found.append(match)
        }
    }

    private func described(_ describe: (FolderEntry) throws -> Metadata) throws -> [Metadata] {
        var bytes = 0
        return try found.map { match in
            var metadata = try describe(match.entry)
            if bytes < Self.snippetBytes, let text = try match.hash.flatMap({ try index.text($0) }) {
                bytes += text.utf8.count
                metadata.snippet = TextSnippet(of: text, query)
            }
            return metadata
        }
    }
}
