import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Waiting for a change")
struct ChangeSignalTests {
    @Test("A change wakes those who wait at or above it, and nobody else; prints how soon")
    func wakes() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        var last = try await fixture.put("/notes/a", [1]).revision
        let start = last
        let other = Task {
            try await store.waitForChange(after: start, prefix: PathKey(folded: "/note"), timeout: .seconds(1))
        }
        var delays: [Duration] = []
        for round in 0..<10 {
            let after = last
            let waiting = ["/", "/notes", "/notes/b"].map { prefix in
                Task {
                    let answer = try await store.waitForChange(
                        after: after, prefix: PathKey(folded: prefix), timeout: .seconds(60))
                    return (answer, ContinuousClock.now)
                }
            }
            try await eventually("three waiters") { store.waiterCount >= 3 }
            last = try await fixture.put("/notes/b", [UInt8(round)]).revision
            let written = ContinuousClock.now
            for task in waiting {
                let (answer, instant) = try await task.value
                #expect(answer)
                delays.append(instant - written)
            }
        }
        delays.sort()
        print("woken \(delays[delays.count / 2]) after the write's answer, at worst \(delays[delays.count - 1])")
        #expect(try await !other.value)
    }

    @Test("A change that is there already answers at once, and so does a position from the future")
    func answersAtOnce() async throws {
        let fixture = try StoreFixture()
        try await fixture.put("/a/x", [1])
        let last = try await fixture.put("/b", [1]).revision
        let prefix = PathKey(folded: "/a")
        #expect(try await fixture.store.waitForChange(after: 0, prefix: prefix, timeout: .seconds(20)))
        #expect(try await !fixture.store.waitForChange(after: 2, prefix: prefix, timeout: .milliseconds(20)))
        #expect(try await fixture.store.waitForChange(after: last + 1, prefix: .root, timeout: .seconds(20)))
    }

    @Test(
        "Whatever changes, those hear of it who wait there, above it or below a folder that changed as a whole",
        arguments: 1...20 as ClosedRange<UInt64>)
    func concerned(seed: UInt64) async throws {
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        let names = ["a", "b", "a.b"]
        let prefixes = try [PathKey.root] + (0..<30).map { _ in try RandomOperation.path(names, using: &generator).key }
        let entries = try (0..<2).map { _ in
            FolderEntry(
                path: try RandomOperation.path(names, using: &generator), isFolder: false, revision: 1,
                modified: APIDate(seconds: 0), author: 1)
        }
        let subtrees = try seed % 2 == 0 ? [RandomOperation.path(names, using: &generator).key] : []
        let signal = ChangeSignal(lastRevision: 0)
        let waiting = prefixes.map { prefix in
            Task { try await signal.wait(after: 0, prefix: prefix, timeout: .seconds(600)) { false } }
        }
        try await eventually("all wait") { signal.waiterCount == prefixes.count }
        signal.notify(entries, below: subtrees, upTo: 1)
        for (prefix, task) in zip(prefixes, waiting) {
            let isConcerned =
                prefix == .root || entries.contains { $0.path.key == prefix || $0.path.key.isBelow(prefix) }
                || subtrees.contains { prefix.isBelow($0) }
            if !isConcerned { task.cancel() }
            #expect((try? await task.value) == (isConcerned ? true : nil), "\(prefix)")
        }
    }

    @Test("Cancelling ends the wait at once")
    func cancels() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let waiting = Task { try await store.waitForChange(after: 0, prefix: .root, timeout: .seconds(60)) }
        try await eventually("a waiter") { store.waiterCount > 0 }
        let start = ContinuousClock.now
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(ContinuousClock.now - start < .seconds(30))
        #expect(store.waiterCount == 0)
    }

    @Test("Two thousand waiters all hear of one change")
    func manyWaiters() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let start = ContinuousClock.now
        let heard = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<2000 {
                group.addTask { try await store.waitForChange(after: 0, prefix: .root, timeout: .seconds(30)) }
            }
            try await fixture.put("/n", [1])
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        print("2,000 waiters in \(ContinuousClock.now - start)")
        #expect(heard == 2000)
    }
}
