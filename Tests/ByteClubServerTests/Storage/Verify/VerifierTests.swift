import ByteClubCore
import ByteClubFiles
import GRDB
import Glibc
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Verification")
struct VerifierTests {
    /// A club with a bit of everything: folders, versions, a deletion, a move, small and large contents, an upload.
    private static func furnished() async throws -> StoreFixture {
        let fixture = try StoreFixture()
        _ = try await fixture.store.addMember(name: "Ann", role: nil, oauth1: true)
        try await fixture.put("/notes/a.md", Array("first".utf8))
        try await fixture.put("/notes/a.md", Array("second".utf8))
        try await fixture.put("/notes/gone.md", Array("gone".utf8))
        try await fixture.put("/photos/ridge.jpg", randomBytes(5_000_000, seed: 1))
        try await fixture.put("/photos/lake.jpg", randomBytes(100_000, seed: 2))
        _ = try await fixture.store.write(by: 1, storing: nil) { folder in
            _ = try folder.delete(try RemotePath("/notes/gone.md"), seen: nil)
            return try folder.move(try RemotePath("/photos/lake.jpg"), to: try RemotePath("/photos/Sea.jpg"))
        }
        let upload = try await fixture.store.beginUpload(member: 1)
        let chunk = try await fixture.store.appendToUpload(upload.uploadID, member: 1, at: 0)
        try await chunk.write(randomBytes(4_400_000, seed: 3))
        _ = try await chunk.finish()
        while try await fixture.store.indexTexts() == nil {}
        return fixture
    }

    private static func findings(_ fixture: StoreFixture) async throws -> [Finding] {
        try await Verifier(directory: fixture.directory.path).run().findings
    }

    private static func blob(_ fixture: StoreFixture, seed: UInt64, count: Int) -> String {
        fixture.store.files.path(of: ContentHasher.hash(randomBytes(count, seed: seed)))
    }

    @Test("A sound club is clean, and everything in it was looked at")
    func clean() async throws {
        let fixture = try await Self.furnished()
        let report = try await Verifier(directory: fixture.directory.path).run()
        #expect(report.findings == [])
        #expect(report.isClean)
        #expect(report.versions == 10)
        #expect(report.contents == 5)
        #expect(report.bytes == 5_000_000 + 100_000 + 5 + 6 + 4)
    }

    /// A way to damage a club, and how the verification names it.
    struct Damage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let kind: Finding.Kind
        let words: String
        let inflict: @Sendable (StoreFixture) async throws -> Void

        init(
            _ name: String, _ kind: Finding.Kind, _ words: String,
            _ inflict: @escaping @Sendable (StoreFixture) async throws -> Void
        ) {
            (testDescription, self.kind, self.words, self.inflict) = (name, kind, words, inflict)
        }

        static func sql(_ name: String, _ kind: Finding.Kind, _ words: String, _ sql: String) -> Damage {
            Damage(name, kind, words) { fixture in
                let changes = try await fixture.store.pool.write { database in
                    try database.execute(sql: sql)
                    return database.totalChangesCount
                }
                #expect(changes > 0, "nothing was damaged")
            }
        }
    }

    static let damages: [Damage] = [
        Damage("a flipped bit in a file", .content, "; it is the content of /photos/ridge.jpg (rev ") { fixture in
            let path = blob(fixture, seed: 1, count: 5_000_000)
            let file = try Descriptor(path: path, flags: O_RDWR)
            let byte = try file.read(1, at: 4_500_000)
            try file.write([byte[0] ^ 1], at: 4_500_000)
        },
        Damage("a file cut short", .reference, "has 7 bytes and should have 5000000") { fixture in
            try Descriptor(path: blob(fixture, seed: 1, count: 5_000_000), flags: O_WRONLY).truncate(to: 7)
        },
        Damage("a lost file", .reference, "/photos/Sea.jpg (rev a00000001)\tits content") { fixture in
            unsafe unlink(blob(fixture, seed: 2, count: 100_000))
        },
        .sql(
            "changed bytes in the database", .content, "the 6 bytes in the database have the hash",
            "UPDATE content SET bytes = x'010203040506' WHERE length(bytes) = 6"),
        .sql(
            "a lost row of content", .reference, "/notes/a.md (rev 300000001)\tits content",
            "DELETE FROM content WHERE length(bytes) = 6"),
        .sql(
            "a wrong length", .reference, "has 5000000 bytes and should have 5000001",
            "UPDATE version SET bytes = bytes + 1 WHERE path = '/photos/ridge.jpg'"),
        .sql("a lost version", .journal, "which is missing", "DELETE FROM version WHERE revision = 2"),
        .sql("a lost newest version", .tree, "its change 3 is missing", "DELETE FROM version WHERE revision = 3"),
        .sql(
            "a version in no history", .journal, "in no path's history",
            "UPDATE version SET previous = 0 WHERE revision = 3"),
        .sql(
            "a history that goes astray", .journal, "it replaced '/notes/gone.md'",
            "UPDATE version SET previous = 4 WHERE revision = 3"),
        .sql(
            "a history that goes forward", .journal, "it replaced the later change 9",
            "UPDATE version SET previous = 9 WHERE revision = 3"),
        .sql(
            "an impossible path", .journal, "path is invalid", "UPDATE version SET path = '/a/../b' WHERE revision = 2"
        ),
        .sql(
            "a file without a hash", .journal, "kind 0 with 6 bytes and a hash of 0 bytes",
            "UPDATE version SET hash = NULL WHERE revision = 3"),
        .sql(
            "a path that the tree forgot", .journal, "the tree does not know the path",
            "DELETE FROM latest WHERE key LIKE '%ridge.jpg'"),
        .sql(
            "a tree that is behind", .journal, "the tree has the older change 2",
            "UPDATE latest SET revision = 2 WHERE revision = 3"),
        .sql(
            "a missing folder", .tree, "there is no folder above it",
            "DELETE FROM latest WHERE key = char(1) || 'photos'"),
        .sql("a deleted folder", .tree, "not an existing folder", "UPDATE version SET kind = 3 WHERE path = '/photos'"),
        .sql(
            "a wrong parent", .tree, "the tree has it in another folder",
            "UPDATE latest SET parent = '' WHERE key LIKE '%sea.jpg'"),
        .sql(
            "a wrong counter", .counter, "used\tcounted 5100007 bytes, there are 5100006",
            "UPDATE meta SET value = value + 1 WHERE name = 'used'"),
        .sql(
            "a wrong counter of a member", .counter, "used by member 1\tcounted 3 bytes",
            "UPDATE member_usage SET bytes = 3"),
        .sql(
            "an entry without a version", .tree, "entry 2\tits change 99 is missing",
            "UPDATE node SET revision = 99 WHERE id = 2"),
        .sql(
            "an entry that is behind", .tree, "its entry's newest change is 2",
            "UPDATE node SET revision = 2 WHERE id = 2"),
        .sql(
            "a listing that is behind", .counter, "listing of /notes\tthe newest change is 1, there is 8",
            "UPDATE listing SET newest = 1 WHERE folder LIKE '%notes'"),
        Damage("a lost upload", .upload, "its file is missing") { fixture in
            for name in fixture.staged { unsafe unlink(fixture.store.files.staging + "/" + name) }
        },
        Damage("an upload cut short", .upload, "4400000 bytes were acknowledged, its file has 9") { fixture in
            for name in fixture.staged {
                try Descriptor(path: fixture.store.files.staging + "/" + name, flags: O_WRONLY).truncate(to: 9)
            }
        },
        .sql(
            "an entry that searches do not know", .index, "/notes/a.md (rev 300000001)\tit is not in the search",
            "DELETE FROM searchable WHERE name = 'a.md'"),
        .sql(
            "an entry that searches know as it was", .index, "the search index has another version of it",
            "UPDATE searchable SET name = 'b.md' WHERE name = 'a.md'"),
        .sql(
            "an entry that searches alone know", .index, "entry 99\tit is only in the search index",
            "INSERT INTO searchable(id, node, name) VALUES (99, 99, 'none')"),
        .sql(
            "words that are in no text", .index, "words\tthe search index does not match",
            "INSERT INTO search_index(rowid, body) VALUES (99, 'stray')"),
        .sql(
            "words that are lost", .index, "words\tthe search index does not match",
            """
            INSERT INTO search_index(search_index, rowid, name, body)
            SELECT 'delete', id, 'a md', 'second' FROM searchable WHERE name = 'a.md'
            """),
        .sql("an upload's lost hash", .upload, "0 blocks have hashes", "DELETE FROM upload_block"),
    ]

    @Test("Each kind of damage is named", arguments: damages)
    func names(_ damage: Damage) async throws {
        let fixture = try await Self.furnished()
        try await damage.inflict(fixture)
        let report = try await Verifier(directory: fixture.directory.path).run()
        #expect(!report.isClean)
        let isNamed = report.findings.contains { $0.kind == damage.kind && $0.line.contains(damage.words) }
        #expect(isNamed, "\(report.findings.map(\.line))")
    }

    @Test("An index with other words is made anew, and is sound then")
    func reindex() async throws {
        let fixture = try await Self.furnished()
        try await fixture.store.pool.write { database in
            try database.execute(sql: "INSERT INTO search_index(rowid, body) VALUES (99, 'stray')")
        }
        #expect(try await !Self.findings(fixture).isEmpty)
        try await fixture.store.forgetTexts()
        #expect(try await Self.findings(fixture) == [])
        while try await fixture.store.indexTexts() == nil {}
        #expect(try await Self.findings(fixture) == [])
        let found = try await fixture.store.searchTexts(
            .root, query: TextQuery("second"), includeDeleted: false, limit: 10)
        #expect(found.entries.map(\.path.string) == ["/notes/a.md"])
    }

    @Test("A torn database file is told as damage, not as a crash")
    func tornDatabase() async throws {
        let fixture = try await Self.furnished()
        try await fixture.store.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try fixture.store.close()
        let path = fixture.directory.path + "/byteclub.sqlite"
        let file = try Descriptor(path: path, flags: O_RDWR)
        let garbage = randomBytes(4096, seed: 9)
        let pages = try file.length() / 4096
        for page in stride(from: 3, to: pages, by: 3) {
            try file.write(garbage, at: page * 4096)
        }
        #expect(pages > 9)
        do {
            let report = try await Verifier(directory: fixture.directory.path).run()
            #expect(report.findings.contains { $0.kind == .database })
        } catch let error as StorageError {
            #expect(error.code == .damaged)
        }
    }

    @Test("Content that nothing refers to is told, and is no damage")
    func orphans() async throws {
        let fixture = try await Self.furnished()
        let bytes = randomBytes(70_000, seed: 8)
        let hash = ContentHasher.hash(bytes)
        try Directory.make(fixture.store.files.directory(of: hash))
        let file = try Descriptor(path: fixture.store.files.path(of: hash), flags: O_WRONLY | O_CREAT)
        try file.write(bytes, at: 0)
        let small = ContentHasher.hash([7])
        try await fixture.store.pool.write { database in
            try database.execute(
                sql: "INSERT INTO content(hash, bytes) VALUES (?, x'07')", arguments: [small.data])
        }
        let report = try await Verifier(directory: fixture.directory.path).run()
        #expect(report.isClean)
        #expect(Set(report.findings.map(\.subject)) == [hash.description, small.description])
        #expect(report.findings.allSatisfy { $0.kind == .orphan })
        #expect(try await fixture.store.collectContents() == 2)
        #expect(try await Self.findings(fixture) == [])
    }

    @Test("A directory without a club is refused, and stays as it is")
    func missing() throws {
        let directory = try TemporaryDirectory()
        #expect(throws: StorageError(.missing, "no club in '\(directory.path)'")) {
            try Verifier(directory: directory.path)
        }
        #expect(try Directory.names(in: directory.path) == [])
    }

    @Test("It is clean at any time while writers write, delete and forget")
    func whileServing() async throws {
        let fixture = try StoreFixture(in: nil, HistorySettings(keep: 0))
        let store = fixture.store
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for number in 0..<60 {
                        let size = number.isMultiple(of: 9) ? 70_000 : 900
                        try await fixture.put(
                            "/w\(writer)/\(number % 7)", randomBytes(size, seed: UInt64(writer * 999 + number)))
                    }
                }
            }
            group.addTask {
                for _ in 0..<20 {
                    fixture.seconds.advance(1)
                    await Housekeeping(store: store, logger: store.logger).keepHouse(collecting: true)
                }
            }
            for _ in 0..<6 {
                let report = try await Verifier(directory: fixture.directory.path).run()
                #expect(report.isClean, "\(report.findings.map(\.line))")
            }
            try await group.waitForAll()
        }
        await Housekeeping(store: store, logger: store.logger).keepHouse(collecting: true)
        #expect(try await Self.findings(fixture) == [])
    }
}
