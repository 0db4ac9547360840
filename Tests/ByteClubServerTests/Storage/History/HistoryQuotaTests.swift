import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("A quota of old versions") struct HistoryQuotaTests {
    private static func put(
        _ store: SQLiteStore, _ path: String, _ count: Int, _ seed: UInt64, by member: Int64
    ) async throws {
        let writer = try await store.blobs.writer()
        try await writer.write(randomBytes(count, seed: seed))
        let content = try await writer.finish()
        let path = try RemotePath(path)
        _ = try await store.write(by: member, storing: content) { folder in
            try folder.put(path, bytes: content.bytes, hash: content.hash, condition: .overwrite, policy: .fail)
        }
    }

    private static func revisions(_ store: SQLiteStore, _ path: String) async throws -> [Int64] {
        let path = try RemotePath(path)
        return try await store.read { try $0.state.versions(path.key, limit: 100).map(\.revision) }
    }

    private static func keepHouse(_ fixture: StoreFixture) async throws {
        await Housekeeping(store: fixture.store, logger: fixture.store.logger).keepHouse(collecting: true)
        #expect(try await Verifier(directory: fixture.directory.path).run().findings == [])
    }

    @Test("an editor who writes one file over and over has no more old bytes on the disk than the setting says")
    func bounded() async throws {
        let fixture = try StoreFixture(in: nil, HistorySettings(historyQuota: 1_000_000))
        for number in 0..<20 { try await Self.put(fixture.store, "/a", 300_000, UInt64(number), by: 1) }
        #expect(fixture.blobCount == 20)
        try await Self.keepHouse(fixture)
        #expect(try await Self.revisions(fixture.store, "/a") == [20, 19, 18, 17])
        #expect(try FileSizes.sum(fixture.store.files.root) == 4 * 300_000)
        #expect(fixture.store.statistics.replacedBytes == 19 * 300_000)
    }

    @Test("an editor cannot make others' old versions go by writing many")
    func others() async throws {
        let fixture = try StoreFixture(in: nil, HistorySettings(historyQuota: 1_000_000))
        let store = fixture.store
        for number in 0..<3 { try await Self.put(store, "/mine\(number)", 300_000, 100 + UInt64(number), by: 1) }
        for number in 0..<3 { try await Self.put(store, "/mine\(number)", 300_000, 200 + UInt64(number), by: 2) }
        for number in 0..<20 { try await Self.put(store, "/theirs", 300_000, UInt64(number), by: 2) }
        try await Self.keepHouse(fixture)
        for number in 0..<3 {
            let versions = try await Self.revisions(store, "/mine\(number)")
            #expect(versions.last == Int64(number + 1))
        }
        #expect(try await Self.revisions(store, "/theirs").count == 4)
    }

    @Test("moving a folder to and fro, and copies of what is live, cost no old version")
    func moves() async throws {
        let fixture = try StoreFixture(in: nil, HistorySettings(historyQuota: 400_000))
        let store = fixture.store
        try await Self.put(store, "/d/a", 300_000, 1, by: 1)
        try await Self.put(store, "/d/a", 300_000, 2, by: 1)
        let versions = try await Self.revisions(store, "/d/a")
        for _ in 0..<5 {
            for (from, to) in [("/d", "/e"), ("/e", "/d")] {
                _ = try await store.write(by: 1, storing: nil) {
                    try $0.move(try RemotePath(from), to: try RemotePath(to))
                }
            }
        }
        try await Self.keepHouse(fixture)
        let kept = try await Self.revisions(store, "/d/a")
        #expect(Set(versions).isSubset(of: kept))
        #expect(fixture.blobCount == 2)
    }

    @Test("without the setting nothing that a member wrote is forgotten")
    func safeByDefault() async throws {
        let fixture = try StoreFixture(in: nil, HistorySettings(clubQuota: 1_000_000, memberQuota: 1_000_000))
        for number in 0..<20 { try await Self.put(fixture.store, "/a", 300_000, UInt64(number), by: 1) }
        try await Self.keepHouse(fixture)
        #expect(try await Self.revisions(fixture.store, "/a").count == 20)
    }

    @Test("who heard of a version that was dropped still hears of what came after it")
    func oldCursors() async throws {
        let fixture = try StoreFixture(in: nil, HistorySettings(historyQuota: 0))
        let store = fixture.store
        try await Self.put(store, "/a", 70_000, 1, by: 1)
        let start = DeltaCursor(epoch: store.epoch, member: 1)
        let (_, cursor) = try await store.read { try $0.delta(after: nil, start: start, limit: 100) }
        try await Self.put(store, "/a", 70_000, 2, by: 1)
        try await Self.put(store, "/b", 70_000, 3, by: 1)
        _ = try await store.write(by: 1, storing: nil) { try $0.delete(try RemotePath("/b"), seen: nil) }
        try await Self.put(store, "/b", 10, 4, by: 1)
        try await Self.keepHouse(fixture)
        let (page, _) = try await store.read { try $0.delta(after: cursor, start: start, limit: 100) }
        #expect(!page.reset && page.entries.map(\.key.string) == ["/a", "/b"])
        #expect(fixture.blobCount == 1)
    }
}
