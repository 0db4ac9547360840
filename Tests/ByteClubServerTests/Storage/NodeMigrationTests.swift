import ByteClubCore
import GRDB
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("A database from before identities")
struct NodeMigrationTests {
    /// Makes a database what it was before the migration, and migrates it.
    private static func migrateAgain(_ path: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { database in
            for column in ["node", "parent", "content_revision", "place_revision"] {
                try database.execute(sql: "ALTER TABLE version DROP COLUMN \(column)")
            }
            try database.execute(sql: "DROP TABLE node; DROP TABLE operation")
            try Schema.addNodes(database)
        }
        try queue.close()
    }

    private static func fill(
        _ directory: String
    ) async throws -> (first: FolderEntry, second: FolderEntry, gone: FolderEntry, again: FolderEntry) {
        let store = try StoreFixture.open(directory, clock: Clock())
        let first = try await StoreFixture.put(store, "/f/g/a.md", [1])
        let second = try await StoreFixture.put(store, "/f/g/a.md", [2])
        let gone = try await StoreFixture.put(store, "/f/b.md", [3])
        _ = try await store.write(by: 1, storing: nil) { try $0.delete(RemotePath("/f/b.md"), seen: nil) }
        let again = try await StoreFixture.put(store, "/f/b.md", [4])
        try store.close()
        return (first, second, gone, again)
    }

    @Test("gets identities as if nothing had ever moved, and works on")
    func migrates() async throws {
        let directory = try TemporaryDirectory()
        let (first, second, gone, again) = try await Self.fill(directory.path)
        try Self.migrateAgain(directory.path + "/byteclub.sqlite")
        let store = try StoreFixture.open(directory.path, clock: Clock())
        let (entries, tombstone) = try await store.read { folder in
            (try folder.state.descendants(.root, limit: .max), try folder.state.current(NodeID(gone.revision)))
        }
        #expect(entries.map(\.path.string) == ["/f", "/f/b.md", "/f/g", "/f/g/a.md"])
        let byPath = Dictionary(uniqueKeysWithValues: entries.map { ($0.path.string, $0) })
        let file = try #require(byPath["/f/g/a.md"])
        #expect(file.node == NodeID(first.revision) && file.contentRevision == second.revision)
        #expect(file.placeRevision == first.revision && file.parent == byPath["/f/g"]?.node)
        #expect(byPath["/f/g"]?.parent == byPath["/f"]?.node && byPath["/f"]?.parent == .root)
        #expect(byPath["/f/b.md"]?.node == NodeID(again.revision) && tombstone?.isDeleted == true)
        let moved = try await store.write(by: 1, storing: nil) { try $0.move(RemotePath("/f"), to: RemotePath("/h")) }
        #expect(moved.node == byPath["/f"]?.node)
        let page = try await store.journal(after: nil, limits: JournalLimits(entries: 100)).page
        #expect(page.entries.map(\.name) == ["h", "b.md", "g", "a.md"])
        try store.close()
    }
}
