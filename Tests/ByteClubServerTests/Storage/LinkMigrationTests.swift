import ByteClubCore
import GRDB
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("A database whose links went with paths") struct LinkMigrationTests {
    /// Makes the links of a database what they were before the migration.
    private static func age(_ path: String, _ rows: [(secret: String, purpose: Int, member: Int, path: String)]) throws
    {
        let queue = try DatabaseQueue(path: path)
        try queue.write { database in
            try database.execute(
                sql: """
                    DROP TABLE link;
                    CREATE TABLE link(
                        secret TEXT PRIMARY KEY, purpose INTEGER NOT NULL, member INTEGER NOT NULL, path TEXT NOT NULL,
                        expires INTEGER NOT NULL) WITHOUT ROWID, STRICT;
                    CREATE UNIQUE INDEX link_path ON link(path, purpose, member);
                    CREATE INDEX link_expires ON link(expires);
                    """)
            for row in rows {
                try database.execute(
                    sql: "INSERT INTO link VALUES (?, ?, ?, ?, 1400000)",
                    arguments: [row.secret, row.purpose, row.member, row.path])
            }
        }
        try queue.close()
    }

    /// Makes a club with an owner, a viewer and a removed editor, and tells the one live file in it.
    private static func fill(_ directory: String, _ clock: Clock) async throws -> FolderEntry {
        let store = try StoreFixture.open(directory, clock: clock)
        for (name, role) in [("Ann", Role.owner), ("Vi", .viewer), ("Rob", .editor)] {
            _ = try await store.addMember(name: name, role: role, oauth1: false)
        }
        try await store.removeMember(name: "Rob")
        let entry = try await StoreFixture.put(store, "/F/Trip é.md", [1])
        _ = try await StoreFixture.put(store, "/gone.md", [2])
        _ = try await store.write(by: 1, storing: nil) { try $0.delete(RemotePath("/gone.md"), seen: nil) }
        try store.close()
        return entry
    }

    @Test("keeps those that lead somewhere, and those of nobody who may not share")
    func migrates() async throws {
        let directory = try TemporaryDirectory()
        let clock = Clock()
        let entry = try await Self.fill(directory.path, clock)
        let file = directory.path + "/byteclub.sqlite"
        let key = entry.path.key.string
        try Self.age(
            file,
            [
                ("kept", 0, 1, key), ("folder", 0, 1, "/f"), ("reference", 1, 2, key), ("viewer", 0, 2, key),
                ("removed", 0, 3, key), ("gone", 0, 1, "/gone.md"), ("never", 0, 1, "/never"),
            ])
        let queue = try DatabaseQueue(path: file)
        try await queue.write { database in
            try database.execute(sql: Schema.addLinkNodes)
            try database.execute(sql: "DROP INDEX version_photo")
            try database.execute(sql: Schema.addPhotos)
        }
        try queue.close()

        let store = try StoreFixture.open(directory.path, clock: clock)
        #expect(try await store.entry(.share, secret: "kept", below: "")?.node == entry.node)
        #expect(try await store.entry(.share, secret: "folder", below: "trip é.md")?.node == entry.node)
        #expect(try await store.entry(.copy, secret: "reference", below: "")?.node == entry.node)
        let member = try #require(try await store.members().first)
        let links = try await store.links(seenBy: member, nil, before: .max, limit: 9)
        #expect(Set(links.map(\.secret)) == ["kept", "folder"] && links.allSatisfy { $0.expires.seconds == 1_400_000 })
        #expect(try await store.query { try Int.fetchOne($0, sql: "SELECT count(*) FROM link") } == 3)
        // The entry moves, another comes to its path, and a link that is asked for again is the same one.
        _ = try await store.write(by: 1, storing: nil) { try $0.move(entry.path, to: RemotePath("/moved.md")) }
        _ = try await StoreFixture.put(store, "/F/Trip é.md", [3])
        #expect(try await store.entry(.share, secret: "kept", below: "")?.path.string == "/moved.md")
        let moved = try #require(try await store.read { try $0.live(RemotePath("/moved.md")) })
        #expect(try await store.link(.share, to: moved, by: 1, lifetime: nil).secret == "kept")
        #expect(try await Verifier(directory: directory.path).run().findings == [])
        try store.close()
    }
}
