import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("The hash of a listing")
struct ListingHashTests {
    private static let folders = ["/", "/a", "/a/b", "/c"]

    @Test(
        "No hash ever stands for two listings, whatever changes and whatever is forgotten",
        arguments: 1...3 as ClosedRange<UInt64>)
    func tellsListingsApart(seed: UInt64) async throws {
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        let fixture = try StoreFixture()
        var seen: [String: [Metadata]] = [:]
        var repeats = 0
        for step in 0..<120 {
            let path = try RemotePath(
                (Self.folders.randomElement(using: &generator) ?? "/") + "/n\(Int.random(in: 0...3, using: &generator))"
            )
            let folder = try RemotePath(Self.folders.randomElement(using: &generator) ?? "/")
            switch Int.random(in: 0..<8, using: &generator) {
            case 0...3: _ = try? await fixture.put(path.string, [UInt8(step)])
            case 4: _ = try? await fixture.store.write(by: 1, storing: nil) { try $0.delete(path, seen: nil) }
            case 5: _ = try? await fixture.store.write(by: 1, storing: nil) { try $0.delete(folder, seen: nil) }
            case 6: _ = try? await fixture.store.write(by: 1, storing: nil) { try $0.move(folder, to: path) }
            default: try await Self.forgetDeletions(fixture.store)
            }
            for name in Self.folders {
                let path = try RemotePath(name)
                let listed = try await Self.list(path, fixture.store)
                guard let hash = listed?.hash, let contents = listed?.contents else { continue }
                if let before = seen[name + hash] {
                    repeats += 1
                    #expect(before == contents, "step \(step): \(name)")
                }
                seen[name + hash] = contents
                #expect(try await Self.list(path, fixture.store, unless: hash) == nil)
            }
        }
        #expect(repeats > 50)
    }

    @Test("A listing with deleted entries has another hash, and a deletion changes both")
    func countsDeletions() async throws {
        let fixture = try StoreFixture()
        try await fixture.put("/a/n", [1])
        try await fixture.put("/a/m", [2])
        let folder = try RemotePath("/a")
        let before = try await Self.hashes(folder, fixture.store)
        #expect(before.live != before.all)
        let gone = try RemotePath("/a/n")
        _ = try await fixture.store.write(by: 1, storing: nil) { try $0.delete(gone, seen: nil) }
        let after = try await Self.hashes(folder, fixture.store)
        #expect(Set([before.live, before.all, after.live, after.all]).count == 4)
        try await fixture.put("/c/n", [3])
        #expect(try await Self.hashes(folder, fixture.store) == after)
    }

    @Test("Within a transaction a folder's newest child is the one just made")
    func seesOwnChanges() async throws {
        let fixture = try StoreFixture()
        let path = try RemotePath("/a/n")
        let newest = try await fixture.store.write(by: 1, storing: nil) { folder in
            _ = try folder.createFolder(path)
            return try [PathKey.root, PathKey(folded: "/a"), path.key].map { try folder.state.newestChild($0) }
        }
        #expect(newest == [1, 2, 0])
    }

    private static func list(
        _ path: RemotePath, _ store: SQLiteStore, unless known: String? = nil, includeDeleted: Bool = false
    ) async throws -> Metadata? {
        do {
            return try await store.read {
                try $0.list(path, unless: known, includeDeleted: includeDeleted, limit: 1000)
            }
        } catch is APIError {
            return nil
        }
    }

    private static func hashes(
        _ path: RemotePath, _ store: SQLiteStore
    ) async throws -> (live: String, all: String) {
        let live = try await list(path, store)
        let all = try await list(path, store, includeDeleted: true)
        return (try #require(live?.hash), try #require(all?.hash))
    }

    /// Takes away what says that entries are gone, as a server that forgets old deletions would.
    private static func forgetDeletions(_ store: SQLiteStore) async throws {
        try await store.writer.perform { transaction in
            let gone = "SELECT l.key FROM latest l JOIN version v ON v.revision = l.revision WHERE v.kind >= 2"
            try transaction.execute("DELETE FROM latest WHERE key IN (\(gone))")
        }
    }
}
