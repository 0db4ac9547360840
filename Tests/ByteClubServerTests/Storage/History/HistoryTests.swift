import ByteClubCore
import GRDB
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("History that is kept for a time")
struct HistoryTests {
    private static let day: Int64 = 86_400

    private static func keepHouse(_ store: SQLiteStore) async {
        await Housekeeping(store: store, logger: store.logger).keepHouse(collecting: true)
    }

    /// Lets days pass, with a look round every day.
    private static func days(_ count: Int, _ fixture: StoreFixture, _ store: SQLiteStore? = nil) async {
        for _ in 0..<count {
            await keepHouse(store ?? fixture.store)
            fixture.seconds.advance(day)
        }
        await keepHouse(store ?? fixture.store)
    }

    private static func revisions(_ store: SQLiteStore, _ path: String) async throws -> [Int64] {
        let path = try RemotePath(path)
        return try await store.read { try $0.state.versions(path.key, limit: 100).map(\.revision) }
    }

    private static func expectClean(_ fixture: StoreFixture) async throws {
        let report = try await Verifier(directory: fixture.directory.path).run()
        #expect(report.findings == [])
    }

    @Test("A version is kept for so long after it was replaced, not after it was written; what is live stays for ever")
    func keeps() async throws {
        let fixture = try StoreFixture(in: nil, HistorySettings(keep: 30 * Self.day))
        let first = randomBytes(100_000, seed: 1)
        try await fixture.put("/a", first)
        try await fixture.put("/live", [1])
        await Self.days(100, fixture)
        try await fixture.put("/a", [2])
        await Self.days(29, fixture)
        #expect(try await Self.revisions(fixture.store, "/a") == [3, 1])
        #expect(fixture.blobCount == 1)
        await Self.days(2, fixture)
        #expect(try await Self.revisions(fixture.store, "/a") == [3])
        #expect(fixture.blobCount == 0)
        await Self.days(400, fixture)
        let live = try await fixture.store.read { try $0.state.descendants(.root, limit: 9) }
        #expect(live.map(\.revision) == [3, 2])
        for entry in live { #expect(try await fixture.bytes(entry).count == 1) }
        try await Self.expectClean(fixture)
    }

    @Test("What was forgotten is 404 for revisions and restore, and a file that was deleted long ago cannot come back")
    func forgotten() async throws {
        let fixture = try StoreFixture(in: nil, HistorySettings(keep: Self.day))
        let store = fixture.store
        let path = try RemotePath("/d/a")
        let old = try await fixture.put("/d/a", [1])
        _ = try await store.write(by: 1, storing: nil) { try $0.delete(path, seen: nil) }
        _ = try await store.write(by: 1, storing: nil) {
            try $0.restore(path, to: JournalRevision(number: old.revision))
        }
        _ = try await store.write(by: 1, storing: nil) { try $0.delete(path, seen: nil) }
        await Self.days(3, fixture)
        let told = try await store.read { try $0.revisions(path, limit: 10) }
        #expect(told.map(\.isDeleted) == [true])
        do {
            _ = try await store.write(by: 1, storing: nil) {
                try $0.restore(path, to: JournalRevision(number: old.revision))
            }
            Issue.record("it was restored")
        } catch let error as APIError {
            #expect(error.status == 404)
        }
        let rows = try await store.query { try $0.firstRow("SELECT count(*) FROM content") { $0[0] as Int } }
        #expect(rows == 0)
        try await Self.expectClean(fixture)
    }

    @Test("A cursor from before the purge still hears of every deletion and change, without a reset")
    func oldCursors() async throws {
        let fixture = try StoreFixture(in: nil, HistorySettings(keep: Self.day))
        let store = fixture.store
        for name in ["a", "b", "c"] { try await fixture.put("/\(name)", Array(name.utf8)) }
        let start = DeltaCursor(epoch: store.epoch, member: 1)
        let (_, cursor) = try await store.read { try $0.delta(after: nil, start: start, limit: 100) }
        _ = try await store.write(by: 1, storing: nil) { try $0.delete(try RemotePath("/a"), seen: nil) }
        for number in 0..<5 { try await fixture.put("/b", [UInt8(number)]) }
        await Self.days(10, fixture)
        #expect(try await Self.revisions(store, "/b").count == 1)
        let (page, _) = try await store.read { try $0.delta(after: cursor, start: start, limit: 100) }
        #expect(!page.reset)
        #expect(page.entries.map(\.key.string) == ["/a", "/b"])
        #expect(page.entries.map { $0.metadata == nil } == [true, false])
    }

    @Test("Sync engines with an old cursor hear of what was deleted even when another entry took its place since")
    func oldJournalCursors() async throws {
        let fixture = try StoreFixture(in: nil, HistorySettings(keep: Self.day))
        let store = fixture.store
        let first = try await fixture.put("/a", [1])
        let path = try RemotePath("/a")
        _ = try await store.write(by: 1, storing: nil) { try $0.delete(path, seen: nil) }
        for number in 2..<6 { try await fixture.put("/a", [UInt8(number)]) }
        await Self.days(9, fixture)
        #expect(try await Self.revisions(store, "/a").count == 2)
        let told = try await store.query {
            try SQLiteFolderState(reading: $0).journal(after: first.revision, changedAfter: 0, limit: 9)
        }
        #expect(told.contains { $0.node == first.node && $0.isDeleted })
        try await Self.expectClean(fixture)
    }

    @Test("An edit of a forgotten version becomes a conflicting copy, and one of a version that never was is refused")
    func forgottenParent() async throws {
        let fixture = try StoreFixture(in: nil, HistorySettings(keep: Self.day))
        let old = try await fixture.put("/a.md", [1])
        try await fixture.put("/a.md", [2])
        await Self.days(3, fixture)
        let content = try #require(StagedContent(inline: [3]))
        let stored = try await fixture.store.write(by: 1, storing: content) { folder in
            try folder.put(
                try RemotePath("/a.md"), bytes: 1, hash: content.hash,
                condition: .parent(.number(old.revision)), policy: .rename)
        }
        #expect(stored.path.string == "/a (conflicted copy).md")
        await #expect(throws: APIError.self) {
            try await fixture.put("/a.md", [4], .parent(.number(999)))
        }
    }

    @Test("Clocks that jump by years, and reboots, make nothing go away before its time has really passed")
    func jumpingClocks() async throws {
        let fixture = try StoreFixture(in: nil, HistorySettings(keep: 30 * Self.day))
        try await fixture.put("/a", [1])
        try await fixture.put("/a", [2])
        for jump in [3650, -7300, 20_000] {
            await Self.days(2, fixture)
            fixture.seconds.jump(Int64(jump) * Self.day)
        }
        for _ in 0..<3 {
            await Self.days(2, fixture)
            fixture.seconds.reboot(after: 365 * Self.day)
        }
        await Self.keepHouse(fixture.store)
        #expect(try await Self.revisions(fixture.store, "/a") == [2, 1])
        await Self.days(19, fixture)
        #expect(try await Self.revisions(fixture.store, "/a") == [2])
    }

    @Test("An upload outlives a jump of the clock, and not its 48 hours")
    func uploadExpiry() async throws {
        let fixture = try StoreFixture()
        let upload = try await fixture.store.beginUpload(member: 1)
        fixture.seconds.jump(3650 * Self.day)
        await Self.keepHouse(fixture.store)
        #expect(try await fixture.store.upload(upload.uploadID, member: 1).offset == 0)
        await Self.days(2, fixture)
        await #expect(throws: UploadError.unknown) { try await fixture.store.upload(upload.uploadID, member: 1) }
        #expect(fixture.staged.isEmpty)
    }

    @Test("A purge of many versions takes all that were replaced, and contents that are still used stay")
    func manyVersions() async throws {
        let fixture = try StoreFixture(in: nil, HistorySettings(keep: 0))
        for number in 0..<1400 { try await fixture.put("/n\(number % 3)", Array("\(number)".utf8)) }
        try await fixture.put("/copy", Array("7".utf8))
        await Self.keepHouse(fixture.store)
        fixture.seconds.advance(1)
        await Self.keepHouse(fixture.store)
        let versions = try await fixture.store.query {
            try $0.firstRow("SELECT count(*) FROM version") { $0[0] as Int }
        }
        let contents = try await fixture.store.query {
            try $0.firstRow("SELECT count(*) FROM content") { $0[0] as Int }
        }
        #expect(versions == 4)
        #expect(contents == 4)
        try await Self.expectClean(fixture)
    }

    @Test("Nothing is collected while a backup or a verification shares the contents")
    func sharedContents() async throws {
        let fixture = try StoreFixture()
        let verifier = try Verifier(directory: fixture.directory.path)
        #expect(try await fixture.store.collectContents() == nil)
        _ = try await verifier.run()
    }

    @Test("A content that comes into use again while it is collected stays, whatever the order")
    func collectionRaces() async throws {
        let fixture = try StoreFixture(in: nil, HistorySettings(keep: 0))
        let bodies = (0..<6).map { randomBytes($0.isMultiple(of: 2) ? 70_000 : 50, seed: UInt64($0)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    var generator = SeededGenerator(seed: UInt64(writer))
                    for _ in 0..<150 {
                        let path = "/w\(writer)/\(Int.random(in: 0..<3, using: &generator))"
                        let body = bodies[Int.random(in: 0..<bodies.count, using: &generator)]
                        let entry = try await fixture.put(path, body)
                        #expect(try await fixture.bytes(entry) == body)
                    }
                }
            }
            group.addTask {
                for _ in 0..<150 {
                    fixture.seconds.advance(1)
                    await Self.keepHouse(fixture.store)
                }
            }
            try await group.waitForAll()
        }
        for entry in try await fixture.store.read({ try $0.state.descendants(.root, limit: 99) }) where !entry.isFolder
        {
            #expect(try await fixture.bytes(entry).count == Int(entry.bytes))
        }
        await Self.keepHouse(fixture.store)
        try await Self.expectClean(fixture)
    }
}
