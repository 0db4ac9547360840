import ByteClubCore
import GRDB
import Glibc
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Databases of released versions")
struct ReleasedDatabaseTests {
    /// A data directory with a released database, `Fixtures/databases/N.sqlite`, and the one file it refers to.
    private static func directory(version: Int) throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        try LocalFiles.write(Fixture.bytes("databases/\(version).sqlite"), to: directory.path + "/byteclub.sqlite")
        let photo = Fixture.bytes("panoramas/night.jpg")
        let files = try FileBlobStore(directory: directory.path)
        let hash = ContentHasher.hash(photo)
        try Directory.make(files.directory(of: hash))
        try LocalFiles.write(photo, to: files.path(of: hash))
        return directory
    }

    @Test("One of each version is brought up to date, has all that it had, and verifies clean", arguments: [1, 6])
    func opens(version: Int) async throws {
        let directory = try Self.directory(version: version)
        let keys = version == 1 ? try Self.oauth1Keys(directory) : nil
        let clock = Clock()
        let store = try StoreFixture.open(directory.path, clock: clock)
        #expect(try await store.query { try Int.fetchOne($0, sql: "PRAGMA user_version") } == Schema.version)

        let members = try await store.members()
        #expect(members.map(\.name) == ["Ann Bell", "Ben", "Carl"])
        #expect(members.map(\.isDisabled) == [false, false, true])
        if let keys {
            let signed = try await store.oauth1Credentials(consumerKey: keys.consumer, token: keys.token)
            #expect(signed?.member.name == "Ann Bell")
            #expect(signed?.tokenSecret == keys.secret)
        }

        let live = try await store.read { try $0.state.descendants(.root, limit: 99) }
        #expect(
            live.map(\.path.string) == [
                "/byteclub", "/byteclub/Café.md", "/byteclub/Copy.md", "/byteclub/photos", "/byteclub/photos/night.jpg",
                "/byteclub/photos/Print.jpg", "/byteclub/Trip.md",
            ])
        for entry in live where !entry.isFolder {
            #expect(try await Self.hash(entry, store) == entry.contentHash, "\(entry.path)")
        }
        let trip = try RemotePath("/byteclub/Trip.md")
        let history = try await store.read { try $0.state.versions(trip.key, limit: 9) }
        #expect(history.map(\.author) == [2, 1, 1])
        let named = try await store.read { try $0.revisions(trip, limit: 9) }
        #expect(named.map(\.modifier?.displayName) == ["Ben", "Ann Bell", "Ann Bell"])
        var texts: [String] = []
        for entry in history {
            if case .bytes(let bytes) = try await store.content(of: entry) {
                texts.append(String(decoding: bytes, as: UTF8.self))
            }
        }
        #expect(texts == ["third", "second", "first"])
        let old = try await store.read { try $0.state.versions(try RemotePath("/byteclub/Old.md").key, limit: 9) }
        #expect(old.map(\.isDeleted) == [true, false])
        let start = DeltaCursor(epoch: store.epoch, member: 1, revision: 1)
        let (page, _) = try await store.read { try $0.delta(after: start, start: start, limit: 99) }
        #expect(page.entries.count { $0.metadata == nil } == 4)
        #expect(try await Verifier(directory: directory.path).run().findings == [])

        let restored = try await store.write(by: 1, storing: nil) { folder in
            try folder.restore(try RemotePath("/byteclub/Old.md"), to: JournalRevision(number: old[1].revision))
        }
        #expect(try await Self.hash(restored, store) == restored.contentHash)
        #expect(try await store.addMember(name: "Carl", role: nil, oauth1: false).uid == 4)
        #expect(try await Verifier(directory: directory.path).run().findings == [])
    }

    @Test("Links that members sent out before lead where they led, and can be seen and taken back")
    func links() async throws {
        let directory = try Self.directory(version: 6)
        let old = try DatabaseQueue(path: directory.path + "/byteclub.sqlite")
        let rows = try await old.read { database in
            try database.rows("SELECT secret, purpose, member, expires FROM link ORDER BY path", []) { row in
                (secret: row[0] as String, purpose: row[1] as Int, member: row[2] as Int64, expires: row[3] as Int64)
            }
        }
        try old.close()
        let store = try StoreFixture.open(directory.path, clock: Clock())
        var paths: [String?] = []
        for row in rows {
            let purpose = try #require(Link.Purpose(rawValue: row.purpose))
            paths.append(try await store.entry(purpose, secret: row.secret, below: "")?.path.string)
        }
        #expect(paths == ["/byteclub/Copy.md", "/byteclub/photos", "/byteclub/Trip.md"])
        let shares = rows.filter { $0.purpose == Link.Purpose.share.rawValue }
        let members = try await store.members()
        let owner = try #require(members.first)
        let seen = try await store.links(seenBy: owner, nil, before: .max, limit: 9)
        #expect(Set(seen.map(\.secret)) == Set(shares.map(\.secret)))
        #expect(Set(seen.map(\.expires.seconds)) == Set(shares.map(\.expires)))
        #expect(Set(seen.map(\.member)) == ["Ann Bell", "Ben"])
        let ben = try #require(members.dropFirst().first)
        let his = try await store.links(seenBy: ben, nil, before: .max, limit: 9)
        #expect(his.map(\.path.string) == ["/byteclub/photos"])
        #expect(try await store.removeLink(try #require(his.first?.id), for: ben))
        #expect(try await store.links(seenBy: ben, nil, before: .max, limit: 9) == [])
        try store.close()
    }

    /// The keys that version 1 gave a program of old, as its database keeps them.
    private static func oauth1Keys(
        _ directory: TemporaryDirectory
    ) throws -> (consumer: String, token: String, secret: String) {
        let database = try DatabaseQueue(path: directory.path + "/byteclub.sqlite")
        defer { try? database.close() }
        return try database.read { database in
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT (SELECT value FROM meta WHERE name = 'consumer_key'), token, secret FROM oauth1
                    """)
            let found = try #require(row)
            return (found[0], found[1], found[2])
        }
    }

    private static func hash(_ entry: FolderEntry, _ store: SQLiteStore) async throws -> ContentHash {
        ContentHasher.hash(try await store.content(of: entry).bytes())
    }
}
