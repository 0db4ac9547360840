import ByteClubCore
import GRDB
import Glibc
import Logging

/// Checks a data directory against itself: every content's hash, the tree, the journal, the counters, the uploads.
///
/// It works while a server runs: rows are compared within one snapshot, and contents stay where they are for as long as
/// the verifier shares their lock. Contents are hashed several at a time and in pieces, each once.
struct Verifier: Sendable {
    let directory: String
    let pool: DatabasePool
    private let contents: Descriptor?

    /// Opens a data directory and changes nothing in it.
    ///
    /// - Throws: ``StorageError`` `missing` when there is none, `damaged` when it cannot be read at all.
    init(directory: String) throws {
        guard Directory.fileLength(directory + "/" + SQLiteStore.databaseName) != nil else {
            throw StorageError(.missing, "no club in '\(directory)'")
        }
        self.directory = directory
        contents = try SQLiteStore.shareContents(directory)
        do {
            pool = try SQLiteStore.openToRead(directory, readers: 4)
            let version = try pool.read { try Int.fetchOne($0, sql: "PRAGMA user_version") ?? 0 }
            guard version == Schema.version else {
                throw StorageError(
                    .damaged,
                    "the data directory is of version \(version), and this program checks version \(Schema.version); "
                        + "serve it once with this program")
            }
        } catch {
            throw StorageError.translating(error)
        }
    }

    /// The extent of the check.
    enum Extent: Sendable {
        /// All that is there.
        case everything
        /// What a copy needs to be restored, which is all but the search index; a file that an earlier copy has too was
        /// hashed with that one.
        case copy(after: String?)
    }

    /// Checks everything, or what a copy needs.
    func run(_ extent: Extent = .everything) async throws -> VerificationReport {
        do {
            var report = try await pool.read { database in
                var report = VerificationReport()
                let problems = try String.fetchAll(database, sql: "PRAGMA integrity_check(100)").filter { $0 != "ok" }
                report.findings = problems.map { Finding(.database, SQLiteStore.databaseName, $0) }
                // Rows that cannot be read prove nothing about the rest.
                if !problems.isEmpty { return report }
                report.versions = try Int.fetchOne(database, sql: "SELECT count(*) FROM version") ?? 0
                report.findings += try journalFindings(in: database)
                report.findings += try treeFindings(in: database)
                report.findings += try counterFindings(in: database)
                report.findings += try uploadFindings(in: database)
                if case .everything = extent { report.findings += try indexFindings(in: database) }
                return report
            }
            guard report.isClean || report.findings.allSatisfy({ $0.kind != .database }) else { return report }
            try await checkContents(&report, extent)
            return report
        } catch {
            throw StorageError.translating(error)
        }
    }

    /// A version as people find it again.
    static func name(_ path: String, _ revision: Int64) -> String {
        "\(path) (rev \(JournalRevision(number: revision)))"
    }
}

extension Verifier {
    /// Checks that the search index has each entry as it is, but for what the server is still to look at, and has the
    /// words of their names and texts and no others.
    func indexFindings(in database: Database) throws -> [Finding] {
        let mark: Int64 = try database.meta(Schema.Meta.indexed) ?? 0
        var findings = try database.rows(
            """
            SELECT v.path, v.revision, v.kind, max(v.content_revision, v.place_revision), s.id, s.name
            FROM node n JOIN version v ON v.revision = n.revision LEFT JOIN searchable s ON s.node = n.id
            WHERE v.revision <= ? AND (s.id IS NULL OR v.kind < 2)
            """, [mark]
        ) { row -> Finding? in
            let path: String = row[0]
            let (id, name): (Int64?, String?) = (row[4], row[5])
            let problem: String? =
                if id == nil {
                    "it is not in the search index"
                } else if id != row[3] as Int64 || path.split(separator: "/").last.map(String.init) != name {
                    "the search index has another version of it"
                } else {
                    nil
                }
            return problem.map { Finding(.index, Self.name(path, row[1]), $0) }
        }.compactMap(\.self)
        findings += try database.rows(
            "SELECT s.node FROM searchable s LEFT JOIN node n ON n.id = s.node WHERE n.id IS NULL"
        ) { Finding(.index, "entry \($0[0] as Int64)", "it is only in the search index") }
        return try findings + galleryFindings(in: database) + wordFindings(in: database)
    }

    /// Checks that the gallery has each note and photo as it is, but for photos that are not read yet.
    ///
    /// The server's clock gives a file another date in another zone, so dates that differ by a day count as equal.
    private func galleryFindings(in database: Database) throws -> [Finding] {
        let columns = "revision, kind, pending, latitude, longitude"
        return try database.rows(
            """
            SELECT v.path, g.revision FROM (
                SELECT revision FROM (
                    SELECT \(columns) FROM gallery_source EXCEPT SELECT \(columns) FROM gallery_item)
                UNION SELECT revision FROM (
                    SELECT \(columns) FROM gallery_item EXCEPT SELECT \(columns) FROM gallery_source)
                UNION SELECT s.revision FROM gallery_source s JOIN gallery_item i ON i.revision = s.revision
                    WHERE abs(i.date - s.date) > 26 * 3600) g
            LEFT JOIN version v ON v.revision = g.revision
            WHERE g.revision NOT IN (
                SELECT i.revision FROM gallery_item i JOIN gallery_source s ON s.revision = i.revision
                WHERE i.pending = 1 AND s.pending = 1)
            """
        ) { Finding(.index, Self.name($0[0] ?? "?", $0[1]), "the gallery has another entry for it") }
    }

    private func wordFindings(in database: Database) throws -> [Finding] {
        var (expected, found) = (WordSum(), WordSum())
        let index = SearchIndex(database: database, files: FileBlobStore(existing: directory))
        var isWhole = true
        try database.forEachRow("SELECT name, hash FROM searchable") { row in
            let words = [FoldedText(row[0] as String).bytes]
            guard let hash = row.hash(1) else { return expected.add(words) }
            // Missing or damaged contents are reported with the contents.
            guard let text = try index.text(hash) else { return isWhole = false }
            expected.add(words + [FoldedText(text).bytes])
        }
        guard isWhole else { return [] }
        try database.forEachRow("SELECT term, doc, cnt FROM search_word") { row in
            found.add(row.bytes(0) ?? [], entries: row[1] as Int64, times: row[2] as Int64)
        }
        if expected == found { return [] }
        return [
            Finding(.index, "words", "the search index does not match the names and texts; 'reindex' rebuilds it")
        ]
    }
}

/// A sum over words, in how many entries each is and how often, in whatever order they come.
private struct WordSum: Equatable {
    private var sum: UInt64 = 0

    /// Adds an entry's words, which have a blank between them.
    mutating func add(_ texts: [[UInt8]]) {
        var seen: Set<UInt64> = []
        for text in texts {
            for word in text.split(separator: UInt8(ascii: " ")) {
                let hash = Self.hash(word)
                sum &+= hash &+ (seen.insert(hash).inserted ? hash << 32 | hash >> 32 : 0)
            }
        }
    }

    /// Adds a word of many entries.
    mutating func add(_ word: [UInt8], entries: Int64, times: Int64) {
        let hash = Self.hash(word[...])
        sum &+= UInt64(bitPattern: times) &* hash &+ UInt64(bitPattern: entries) &* (hash << 32 | hash >> 32)
    }

    /// FNV-1a, 64 bits.
    private static func hash(_ word: ArraySlice<UInt8>) -> UInt64 {
        word.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
