import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("The way back to a moment") struct RestorationTests {
    private static let names = ["a", "A", "b", "c.md", "É"]

    /// What a tree has at a path.
    private struct Leaf: Hashable {
        let isFolder: Bool
        let hash: ContentHash?
        let isExecutable: Bool
    }

    private static func tree(_ folder: SharedFolder) throws -> [String: Leaf] {
        Dictionary(
            uniqueKeysWithValues: try folder.state.descendants(.root, limit: .max).map { entry in
                (
                    entry.path.string,
                    Leaf(
                        isFolder: entry.isFolder, hash: entry.contentHash, isExecutable: entry.isExecutable ?? false)
                )
            })
    }

    private static func restore(
        _ store: SQLiteStore, to goal: Restoration.Goal, by member: Int64 = 1, atMost limit: Int = .max
    ) async throws -> Restoration.Counts {
        let plan = try await store.read { try $0.restoration(to: goal) }
        var done = Restoration.Counts()
        let steps = Array(plan.steps.prefix(limit))
        for start in stride(from: 0, to: steps.count, by: 3) {
            let batch = Array(steps[start..<min(start + 3, steps.count)])
            let taken = try await store.write(by: member, storing: []) { folder in
                try batch.map { try folder.take($0) }
            }
            for (step, isTaken) in zip(batch, taken) where isTaken { done.add(step) }
        }
        return done
    }

    /// Makes random changes, and gives the trees after some of them.
    private static func history(
        _ fixture: StoreFixture, _ count: Int, using generator: inout SeededGenerator
    ) async throws -> [(revision: Int64, tree: [String: Leaf])] {
        var trees: [(revision: Int64, tree: [String: Leaf])] = [(0, [:])]
        for _ in 0..<count {
            let last = trees.last?.revision ?? 0
            let operation = try RandomOperation(last: last, names: names, using: &generator)
            let author = Int64.random(in: 1...2, using: &generator)
            _ = try? await fixture.store.write(by: author, storing: []) { try operation.run(on: &$0) }
            fixture.seconds.advance(1)
            let now = try await fixture.store.read { (try $0.state.lastRevision(), try tree($0)) }
            if now.0 > last { trees.append(now) }
        }
        return trees
    }

    @Test("gives exactly the tree of that moment, does what was planned, and the way back from it gives today's")
    func random() async throws {
        for seed in UInt64(0)..<25 {
            var generator = SeededGenerator(seed: seed)
            let fixture = try StoreFixture()
            let trees = try await Self.history(fixture, 60, using: &generator)
            let store = fixture.store
            for _ in 0..<4 {
                let past = try #require(trees.randomElement(using: &generator))
                let before = try await store.read { (try $0.state.lastRevision(), try Self.tree($0)) }
                let goal = Restoration.Goal(revision: past.revision)
                let plan = try await store.read { try $0.restoration(to: goal) }
                #expect(plan.revision == before.0 && plan.blocked.count + plan.others.count == 0)
                let isBroken = Bool.random(using: &generator)
                if isBroken {
                    let part = Int.random(in: 0...plan.steps.count, using: &generator)
                    _ = try await Self.restore(store, to: goal, atMost: part)
                    let goesOn = try await store.read { folder in
                        try folder.isCurrent(folder.restoration(to: goal), since: before.0)
                    }
                    #expect(goesOn, "seed \(seed): the same request goes on")
                }
                let done = try await Self.restore(store, to: goal)
                #expect(isBroken || done == plan.counts, "seed \(seed)")
                #expect(try await store.read { try Self.tree($0) } == past.tree, "seed \(seed) to \(past.revision)")
                #expect(try await Self.restore(store, to: goal).isEmpty, "seed \(seed): twice is the same")
                _ = try await Self.restore(store, to: .init(revision: before.0, author: 1))
                #expect(try await store.read { try Self.tree($0) } == before.1, "seed \(seed): undone")
            }
            try store.close()
        }
    }

    @Test("where history is gone, nothing is removed that was there then, and nothing else is brought back")
    func forgotten() async throws {
        for seed in UInt64(0)..<25 {
            var generator = SeededGenerator(seed: 1_000 + seed)
            let settings = seed % 2 == 0 ? HistorySettings(keep: 20) : HistorySettings(historyQuota: 12)
            let fixture = try StoreFixture(in: nil, settings)
            let store = fixture.store
            var trees: [(revision: Int64, tree: [String: Leaf])] = []
            for _ in 0..<4 {
                trees += try await Self.history(fixture, 15, using: &generator)
                try await store.markAge()
                _ = try await store.purgeHistory()
                _ = try await store.dropHistoryOverQuota()
            }
            let past = try #require(trees.filter { $0.revision > 0 }.randomElement(using: &generator))
            let goal = Restoration.Goal(revision: past.revision)
            let (plan, now, complete) = try await store.read {
                (try $0.restoration(to: goal), try Self.tree($0), try $0.state.completeRevision())
            }
            for step in plan.steps where step.action == .remove {
                let then = past.tree[step.path.string]
                #expect(then == nil || then?.isFolder != step.isFolder, "seed \(seed): \(step)")
            }
            _ = try await Self.restore(store, to: goal)
            let restored = try await store.read { try Self.tree($0) }
            if past.revision >= complete {
                #expect(restored == past.tree, "seed \(seed)")
            }
            for (path, leaf) in restored where !leaf.isFolder && now[path] != leaf {
                let key = try RemotePath(path).key
                let then = try past.tree.filter { try RemotePath($0.key).key == key }.values
                #expect(then.contains(leaf), "seed \(seed): \(path)")
            }
            try store.close()
        }
    }

    @Test("can be that of one member's changes alone, which leaves what others changed too")
    func author() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        for name in ["/mine.md", "/ours.md", "/theirs.md"] { try await fixture.put(name, Array("one".utf8)) }
        let start = try await store.read { try $0.state.lastRevision() }
        for name in ["/mine.md", "/ours.md", "/new/x.md"] {
            try await StoreFixture.put(store, name, Array("two".utf8), by: 2)
        }
        for name in ["/ours.md", "/theirs.md", "/new/y.md"] {
            try await StoreFixture.put(store, name, Array("three".utf8), by: 3)
        }
        let goal = Restoration.Goal(revision: start, author: 2)
        let plan = try await store.read { try $0.restoration(to: goal) }
        #expect(plan.counts.changedBack == 1 && plan.counts.removed == 1 && plan.counts.folders == 0)
        #expect(plan.others.first.map(\.string) == ["/new/y.md", "/ours.md", "/theirs.md"])
        #expect(try await Self.restore(store, to: goal) == plan.counts)
        #expect(
            try await store.read { try Self.tree($0).keys.sorted() }
                == ["/mine.md", "/new", "/new/y.md", "/ours.md", "/theirs.md"])
        let mine = try await store.file(RemotePath("/mine.md"), revision: nil).content.bytes()
        #expect(mine == Array("one".utf8))
    }

    @Test("can keep what was added since, and can be that of one folder")
    func parts() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        try await fixture.put("/a/old.md", [1])
        try await fixture.put("/b/old.md", [1])
        let start = try await store.read { try $0.state.lastRevision() }
        for folder in ["a", "b"] {
            try await fixture.put("/\(folder)/new.md", [2])
            _ = try await store.write(by: 1, storing: []) {
                try $0.delete(RemotePath("/\(folder)/old.md"), seen: nil)
            }
        }
        let goal = Restoration.Goal(revision: start, folder: try RemotePath("/a"), keepsNewer: true)
        let plan = try await store.read { try $0.restoration(to: goal) }
        #expect(plan.newer.first.map(\.string) == ["/a/new.md"])
        #expect(try await Self.restore(store, to: goal).broughtBack == 1)
        #expect(
            try await store.read { try Self.tree($0).keys.sorted() }
                == ["/a", "/a/new.md", "/a/old.md", "/b", "/b/new.md"])
    }

    @Test(
        "a file in the place of a folder, and a folder in that of a file, change back; what stays is never in the way")
    func replaced() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        try await fixture.put("/x", [1])
        try await fixture.put("/y/z.md", [1])
        let start = try await store.read { (try $0.state.lastRevision(), try Self.tree($0)) }
        _ = try await store.write(by: 1, storing: []) { folder in
            _ = try folder.delete(RemotePath("/x"), seen: nil)
            _ = try folder.delete(RemotePath("/y"), seen: nil)
        }
        try await fixture.put("/x/w.md", [2])
        try await fixture.put("/y", [2])
        let goal = Restoration.Goal(revision: start.0)
        let kept = try await store.read {
            try $0.restoration(to: .init(revision: start.0, keepsNewer: true))
        }
        #expect(kept.steps.isEmpty && kept.newer.count == 3 && kept.blocked.first.map(\.string) == ["/y/z.md"])
        #expect(try await Self.restore(store, to: goal).broughtBack == 2)
        #expect(try await store.read { try Self.tree($0) } == start.1)
    }

    @Test("a step does nothing to what others changed after it was planned")
    func meanwhile() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        try await fixture.put("/edited.md", [1])
        try await fixture.put("/gone.md", [1])
        let start = try await store.read { try $0.state.lastRevision() }
        try await fixture.put("/edited.md", [2])
        try await fixture.put("/new.md", [2])
        _ = try await store.write(by: 1, storing: []) { try $0.delete(RemotePath("/gone.md"), seen: nil) }
        let plan = try await store.read { try $0.restoration(to: .init(revision: start)) }
        for name in ["/edited.md", "/new.md", "/gone.md"] { try await fixture.put(name, [3]) }
        let steps = plan.steps
        let taken = try await store.write(by: 1, storing: []) { folder in try steps.map { try folder.take($0) } }
        #expect(steps.count == 3 && taken == [false, false, false])
        let isCurrent = try await store.read { folder in
            let again = try folder.restoration(to: .init(revision: start))
            return try [plan.revision, again.revision].map { try folder.isCurrent(again, since: $0) }
        }
        #expect(isCurrent == [false, true])
    }

    @Test("a time names the last change before it, also when it is that of a folder with much in it")
    func times() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let begin = fixture.seconds.now.seconds
        for number in 0..<3 { try await fixture.put("/d/\(number).md", [1]) }
        fixture.seconds.advance(60)
        _ = try await store.write(by: 1, storing: []) { try $0.move(RemotePath("/d"), to: RemotePath("/e")) }
        let moved = try await store.read { try $0.state.lastRevision() }
        fixture.seconds.advance(60)
        try await fixture.put("/f.md", [1])
        let found = try await store.read { folder in
            try [begin - 1, begin, begin + 59, begin + 60, begin + 119, begin + 120].map {
                try folder.revision(at: $0).revision
            }
        }
        #expect(found == [0, 4, 4, moved, moved, moved + 1])
        #expect(try await store.read { try $0.date(ofChangeAfter: 4)?.seconds } == begin + 60)
    }
}
