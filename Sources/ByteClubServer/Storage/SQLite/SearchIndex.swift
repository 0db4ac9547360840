import ByteClubCore
import ByteClubFiles
import FoundationEssentials
import GRDB
import Glibc

/// The words of names and texts, as one transaction of the database sees them.
///
/// `searchable` has the indexed name and content of each entry, under the number of its last change; `search_index` has
/// only the words. The index follows the journal: changes above the mark are not indexed yet. The mark moves in the
/// transaction that changes the words, so a crash loses and repeats nothing. Writers do no work for it.
struct SearchIndex {
    /// The part of an entry that is in the index.
    struct Document: Sendable {
        /// The number of the entry's last change when it was put in.
        var id: Int64
        /// The entry.
        var node: Int64
        /// The entry's name.
        var name: String
        /// Its content; nil when no text of it is in the index.
        var hash: ContentHash?
        /// The words of the text.
        var words = ""
    }

    /// A step of the work: its changes, and the mark after it.
    struct Step: Sendable {
        /// The mark before the step; when it has moved, the step is out of date.
        var start: Int64
        /// The mark after the step.
        var end: Int64
        /// Whether nothing is left.
        var isLast: Bool
        /// The documents that leave the index.
        var old: [Document] = []
        /// The documents that enter it.
        var new: [Document] = []
        /// How many bytes of words go out and come in.
        var bytes = 0
    }

    /// An entry whose words are not in the index yet, or others.
    struct Pending {
        var entry: FolderEntry
        /// The content to be searched; of a deleted file the last one.
        var hash: ContentHash?
        /// Its document in the index.
        var document: Document?

        /// Whether the index is up to date; a deleted file stays there as it last was.
        var isIndexed: Bool {
            guard let document else { return false }
            if !entry.isDeleted { return document.id == entry.change }
            return document.name == entry.path.name && (hash == nil || document.hash == hash)
        }
    }

    /// The most entries of one step.
    static let stepEntries = 200
    /// The bytes of texts with which a step ends, so that writers never wait long.
    static let stepBytes = 128 << 10

    private static let selectPending = """
        SELECT \(SQLiteFolderState.columns), p.hash, s.id, s.name, s.hash
        FROM version v JOIN node n ON n.id = v.node AND n.revision = v.revision
        LEFT JOIN version p ON p.revision = v.previous AND p.node = v.node AND v.kind = 2
        LEFT JOIN searchable s ON s.node = v.node
        WHERE v.revision > ? AND NOT (v.kind < 2 AND s.id IS max(v.content_revision, v.place_revision))
            AND NOT (v.kind >= 2 AND s.id IS NOT NULL AND (p.hash IS NULL OR s.hash IS p.hash)
                AND substr(v.path, -length(s.name) - 1) = '/' || s.name)
        ORDER BY v.revision LIMIT ?
        """
    /// The index's columns follow those of the entry.
    static let afterEntry = SQLiteFolderState.columnCount

    let database: Database
    let files: FileBlobStore

    /// The last change that is in the index with all before it.
    func mark() throws -> Int64 { try database.meta(Schema.Meta.indexed) ?? 0 }

    /// Entries that are not in the index as they are, in the order of their last versions.
    func pending(after mark: Int64, limit: Int) throws -> [Pending] {
        try database.rows(Self.selectPending, [mark, limit]) { row in
            let entry = try SQLiteFolderState.entry(row)
            let (id, name): (Int64?, String?) = (row[Self.afterEntry + 1], row[Self.afterEntry + 2])
            let document = id.flatMap { id in
                name.map {
                    Document(id: id, node: entry.node.number, name: $0, hash: row.hash(Self.afterEntry + 3))
                }
            }
            let last = entry.isDeleted ? row.hash(Self.afterEntry) : entry.contentHash
            return Pending(entry: entry, hash: last, document: document)
        }
    }

    /// Finds the next step.
    func step() throws -> Step {
        let (start, last) = (try mark(), try SQLiteFolderState.lastRevision(in: database))
        let pending = try pending(after: start, limit: Self.stepEntries)
        var step = Step(start: start, end: start, isLast: pending.count < Self.stepEntries)
        for next in pending {
            if step.bytes > Self.stepBytes {
                step.isLast = false
                break
            }
            step.end = next.entry.revision
            if next.isIndexed { continue }
            if var old = next.document {
                old.words = try words(of: old)
                step.old.append(old)
                step.bytes += old.words.utf8.count
            }
            var new = Document(id: next.entry.change, node: next.entry.node.number, name: next.entry.path.name)
            if let hash = next.hash, let text = try text(hash) {
                (new.hash, new.words) = (hash, FoldedText(text).string)
            }
            step.new.append(new)
            step.bytes += new.words.utf8.count
        }
        if step.isLast { step.end = last }
        return step
    }

    /// Does a step in the writer's transaction; false when another step was done meanwhile, and the work has to be
    /// planned again.
    func perform(_ step: Step) throws -> Bool {
        guard try mark() == step.start, try step.old.allSatisfy(has) else {
            return false
        }
        for document in step.old { try remove(document) }
        for document in step.new { try add(document) }
        try database.run("UPDATE meta SET value = ? WHERE name = ?", [step.end, Schema.Meta.indexed])
        return true
    }

    /// Puts an entry in.
    func add(_ document: Document) throws {
        try database.run(
            "INSERT INTO searchable(id, node, name, hash) VALUES (?, ?, ?, ?)",
            [document.id, document.node, document.name, document.hash?.data])
        try database.run(
            "INSERT INTO search_index(rowid, name, body) VALUES (?, ?, ?)",
            [document.id, FoldedText(document.name).string, document.words])
    }

    /// Whether the index still has this of an entry.
    func has(_ document: Document) throws -> Bool {
        try database.hasRow(
            "SELECT 1 FROM searchable WHERE id = ? AND hash IS ?", [document.id, document.hash?.data])
    }

    /// Removes an entry from the index, which needs the words that it has of it.
    ///
    /// Words that are left out stay under a number that no entry has any more, so no search finds them.
    func remove(_ document: Document) throws {
        try database.run("DELETE FROM searchable WHERE id = ?", [document.id])
        try database.run(
            "INSERT INTO search_index(search_index, rowid, name, body) VALUES ('delete', ?, ?, ?)",
            [document.id, FoldedText(document.name).string, document.words])
    }

    /// Empties the index, so that all is looked at again.
    static func reset(in database: Database) throws {
        try database.execute(
            sql: """
                DELETE FROM searchable;
                INSERT INTO search_index(search_index) VALUES ('delete-all');
                INSERT OR REPLACE INTO meta(name, value)
                    VALUES ('\(Schema.Meta.indexed)', 0), ('\(Schema.Meta.folding)', \(FoldedText.version));
                """)
    }
}

/// The texts of contents, small and large ones.
extension SearchIndex {
    /// How many bytes of a file tell whether it may be a text.
    private static let sample = 4096

    /// The words of a document's text, as they are in the index.
    func words(of document: Document) throws -> String {
        try document.hash.flatMap(text).map { FoldedText($0).string } ?? ""
    }

    /// The text of a content; nil when it is not a text that is searched, or is lost.
    func text(_ hash: ContentHash) throws -> String? {
        try (database.content(hash) ?? file(hash)).flatMap { FoldedText.text($0) }
    }

    private func file(_ hash: ContentHash) -> [UInt8]? {
        let path = files.path(of: hash)
        guard let length = Directory.fileLength(path), length <= Int64(FoldedText.maximumBytes) else { return nil }
        // An unreadable text is searched only by its name, so that nothing waits for it.
        guard let file = try? Descriptor(path: path, flags: O_RDONLY),
            let start = try? file.read(Self.sample, at: 0), !start.contains(0)
        else { return nil }
        return try? file.read(Int(length), at: 0)
    }
}
