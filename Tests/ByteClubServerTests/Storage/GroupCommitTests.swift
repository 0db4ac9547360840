import ByteClubCore
import Dispatch
import GRDB
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Writes that share a sync")
struct GroupCommitTests {
    private struct Refusal: Error {}

    @Test("Many writers at once need far fewer commits than they make writes, and each write is there")
    func sharesCommits() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let before = store.statistics.commits.time.count
        let begun = DispatchSemaphore(value: 0)
        let revisions = try await withThrowingTaskGroup(of: Int64.self) { group in
            for number in 0..<400 {
                group.addTask {
                    let path = try RemotePath("/n\(number)")
                    let content = try #require(StagedContent(inline: Array("\(number)".utf8)))
                    begun.signal()
                    return try await store.write(by: 1, storing: content) { folder in
                        // The first waits for all others: a disk that syncs at once could keep up with them.
                        if try folder.state.lastRevision() == 0 { for _ in 0..<400 { begun.wait() } }
                        let entry = try folder.put(
                            path, bytes: content.bytes, hash: content.hash, condition: .create, policy: .fail)
                        return entry.revision
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let commits = store.statistics.commits.time.count - before
        print("400 writes in \(commits) commits")
        #expect(Set(revisions) == Set(1...400))
        #expect(commits < 200)
    }

    @Test("A write that fails after it has changed rows undoes itself and nobody else")
    func isolatesFailures() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let path = try RemotePath("/d\(number)/n")
                    let content = try #require(StagedContent(inline: [UInt8(number)]))
                    do {
                        _ = try await store.write(by: 1, storing: content) { folder in
                            let entry = try folder.put(
                                path, bytes: 1, hash: content.hash, condition: .create, policy: .fail)
                            if number % 3 == 0 { throw Refusal() }
                            return entry
                        }
                        #expect(number % 3 != 0)
                    } catch is Refusal {
                        #expect(number % 3 == 0)
                    }
                }
            }
            try await group.waitForAll()
        }
        let entries = try await store.read {
            try $0.state.changes(after: 0, prefix: .root, includeDeleted: true, limit: .max)
        }
        #expect(entries.map(\.revision) == Array(1...266))
        for entry in entries where !entry.isFolder {
            let number = UInt8(entry.path.components[0].dropFirst()) ?? 0
            #expect(number % 3 != 0)
            #expect(try await fixture.bytes(entry) == [number])
        }
        #expect(try await store.usage(of: 1).used == 133)
        let rows = try await store.query { try $0.firstRow("SELECT count(*) FROM content") { $0[0] as Int } }
        #expect(rows == 133)
    }

    @Test("What was acknowledged is there for the next process, and a closed store refuses")
    func survivesReopening() async throws {
        let fixture = try StoreFixture()
        let entry = try await fixture.put("/n", [1, 2, 3])
        try fixture.store.close()
        await #expect(throws: StorageError.self) { try await fixture.put("/m", [1]) }
        let again = try StoreFixture.open(fixture.directory.path, mode: .administration, clock: fixture.seconds)
        #expect(again.epoch == fixture.store.epoch)
        #expect(again.signingKey == fixture.store.signingKey)
        let path = entry.path
        #expect(try await again.read { try $0.latest(path) } == entry)
    }

    @Test("A reader's snapshot does not change while writers go on")
    func readsSnapshots() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        try await fixture.put("/n", [0])
        let writes = Task { for number in 1..<200 { try await fixture.put("/n", [UInt8(number)]) } }
        for _ in 0..<50 {
            let isSteady = try await store.read { folder in
                let first = try folder.state.lastRevision()
                let entry = try folder.state.latest(PathKey(folded: "/n"))
                return try entry?.revision == first && folder.state.lastRevision() == first
            }
            #expect(isSteady)
        }
        try await writes.value
    }
}
