import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("The folder in every store")
struct StoredFolderTests {
    @Test(
        "a store answers as the plainest folder does after every random change", arguments: TestedStore.allCases,
        1...4 as ClosedRange<UInt64>)
    func matchesModel(_ tested: TestedStore, seed: UInt64) async throws {
        try await tested.run { try await Self.changeAtRandom($0, seed: seed) }
    }

    private static func changeAtRandom(_ run: ClubStoreRun, seed: UInt64) async throws {
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        var model = SharedFolder(state: ModelFolderState(), now: run.clock.now, author: 1)
        for step in 0..<150 {
            let operation = try RandomOperation(last: try model.state.lastRevision(), using: &generator)
            let before = model
            let expected: Result<FolderEntry, APIError>
            do {
                expected = .success(try operation.run(on: &model))
            } catch let error as APIError {
                model = before
                expected = .failure(error)
            }
            let found: Result<FolderEntry, APIError>
            do {
                found = .success(try await run.store.write(by: 1, storing: nil) { try operation.run(on: &$0) })
            } catch let error as APIError {
                found = .failure(error)
            }
            #expect(found == expected, "step \(step): \(operation)")
            if step % 15 == 14 { try await compare(plain(model), run.store, &generator) }
        }
        let used = try await run.store.usage(of: 1).used
        #expect(used == (try model.state.descendants(.root, limit: .max).reduce(0) { $0 + $1.bytes }))
    }

    @Test(
        "a store answers random batches as the plainest folder does", arguments: TestedStore.allCases,
        1...8 as ClosedRange<UInt64>)
    func batches(_ tested: TestedStore, seed: UInt64) async throws {
        try await tested.run { try await Self.applyAtRandom($0, seed: seed) }
    }

    private static func applyAtRandom(_ run: ClubStoreRun, seed: UInt64) async throws {
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        var batches = RandomBatches()
        var model = SharedFolder(state: ModelFolderState(), now: run.clock.now, author: 1)
        for step in 0..<100 {
            let nodes = try [NodeID.root] + plain(model).journal.suffix(40).map(\.node)
            let batch = try batches.next(on: model.state, nodes: nodes, using: &generator)
            let contents = batch.operations.compactMap(\.content).compactMap { RandomBatches.bytes($0) }
            let expected: SyncOutcome
            let before = model
            do {
                expected = try model.apply(batch)
            } catch let refused as BatchRefused {
                model = before
                expected = refused.outcome
            }
            let found: SyncOutcome
            do {
                let staged = contents.compactMap { StagedContent(inline: $0) }
                found = try await run.store.write(by: 1, storing: staged) { try $0.apply(batch) }
            } catch let refused as BatchRefused {
                found = refused.outcome
            }
            #expect(found == expected, "step \(step)")
            if step % 20 == 19 { try await compare(plain(model), run.store, &generator) }
        }
        let (page, bodies) = try await run.store.journal(after: nil, limits: JournalLimits(entries: .max / 2))
        let live = try model.state.descendants(.root, limit: .max)
        #expect(Set(page.entries.map(\.node)) == Set(live.map(\.node)))
        #expect(bodies.map { ContentHasher.hash($0) } == page.entries.compactMap(\.hash))
    }

    private static func plain(_ model: SharedFolder) throws -> ModelFolderState {
        try #require(model.state as? ModelFolderState)
    }

    private static func compare(
        _ model: ModelFolderState, _ store: any ClubStore, _ generator: inout SeededGenerator
    ) async throws {
        let last = try model.lastRevision()
        let keys = try [PathKey.root] + (0..<12).map { _ in try RandomOperation.path(using: &generator).key }
        let after = Int64.random(in: 0...max(1, last), using: &generator)
        let revision = Int64.random(in: 0...max(1, last), using: &generator)
        let limit = [2, 5, Int.max].randomElement(using: &generator) ?? 5
        let query = try SearchQuery("a")
        for key in keys {
            let ask = { @Sendable (state: any FolderState) throws -> [[FolderEntry]] in
                [
                    try state.latest(key).map { [$0] } ?? [],
                    try state.version(key, revision: revision).map { [$0] } ?? [],
                    try state.versions(key, limit: limit),
                    try state.versions(key, before: revision, limit: limit),
                    try state.children(key, includeDeleted: true, limit: limit),
                    try state.children(key, includeDeleted: false, limit: limit),
                    try state.descendants(key, limit: limit),
                    try state.matches(query, below: key, includeDeleted: true, limit: limit),
                    try state.matches(query, below: key, includeDeleted: false, limit: limit),
                    try state.changes(after: after, prefix: key, includeDeleted: true, limit: limit),
                    try state.changes(after: 0, prefix: key, includeDeleted: false, limit: limit),
                    try state.journal(after: after, changedAfter: 0, limit: limit),
                    try state.journal(after: 0, changedAfter: after, limit: limit),
                    try state.current(NodeID(revision)).map { [$0] } ?? [],
                    try state.version(key, before: revision).map { [$0] } ?? [],
                    try Self.newest(limit, before: revision, in: state),
                ]
            }
            let found = try await store.read { try ask($0.state) }
            #expect(found == (try ask(model)), "\(key)")
            #expect(try await store.read { try $0.state.newestChild(key) } == (try model.newestChild(key)), "\(key)")
            #expect(try await store.read { try $0.state.lastRevision() } == last)
        }
    }

    /// The first of the changes before a revision, the newest first.
    private static func newest(_ limit: Int, before revision: Int64, in state: any FolderState) throws -> [FolderEntry]
    {
        var found: [FolderEntry] = []
        try state.forEachChange(before: revision) { entry in
            found.append(entry)
            return found.count < limit
        }
        return found
    }

    @Test(
        "a folder's whole subtree comes before the sibling whose name goes on with a dot",
        arguments: TestedStore.allCases)
    func ordersSubtrees(_ tested: TestedStore) async throws {
        try await tested.run { run in
            for path in ["/a.b", "/a/x/y", "/a/b", "/A b/c", "/b"] { try await run.put(path, Array(path.utf8)) }
            #expect(try await run.live() == ["/a", "/a/b", "/a/x", "/a/x/y", "/A b", "/A b/c", "/a.b", "/b"])
        }
    }

    @Test("every version keeps its content, and a restored one has it too", arguments: TestedStore.allCases)
    func keepsHistory(_ tested: TestedStore) async throws {
        try await tested.run { run in
            let large = randomBytes(200_000, seed: 1)
            let first = try await run.put("/n.md", Array("one".utf8))
            let second = try await run.put("/n.md", large)
            let path = first.path
            _ = try await run.store.write(by: 2, storing: nil) { try $0.delete(path, seen: nil) }
            let restored = try await run.store.write(by: 3, storing: nil) {
                try $0.restore(path, to: JournalRevision(number: second.revision))
            }
            let versions = try await run.store.read { try $0.state.versions(path.key, limit: 10) }
            #expect(versions.map(\.author) == [3, 2, 1, 1])
            #expect(versions.map(\.isDeleted) == [false, true, false, false])
            #expect(try await run.bytes(first) == Array("one".utf8))
            #expect(try await run.bytes(second) == large)
            #expect(try await run.bytes(restored) == large)
            await #expect(throws: StorageError.self) { try await run.store.content(of: versions[1]) }
        }
    }

    @Test(
        "delta pages follow each other to the same tree while entries are deleted in between",
        arguments: TestedStore.allCases)
    func pagesDelta(_ tested: TestedStore) async throws {
        try await tested.run { run in
            let store = run.store
            for number in 0..<30 { try await run.put("/f\(number)", [UInt8(number)]) }
            var start = DeltaCursor(epoch: store.epoch, member: 1)
            start.prefix = .root
            var position: DeltaCursor?
            var tree: Set<String> = []
            var pages = 0
            while true {
                let (cursor, first) = (position, start)
                let (page, next) = try await store.read { try $0.delta(after: cursor, start: first, limit: 7) }
                #expect(page.reset == (position == nil))
                for entry in page.entries {
                    if entry.metadata == nil { tree.remove(entry.key.string) } else { tree.insert(entry.key.string) }
                }
                position = next
                pages += 1
                if pages <= 3 {
                    let gone = try RemotePath("/f\(pages * 2)")
                    _ = try await store.write(by: 1, storing: nil) { try $0.delete(gone, seen: nil) }
                }
                if !page.hasMore { break }
            }
            let live = try await store.read { try $0.state.descendants(.root, limit: .max).map(\.path.key.string) }
            #expect(tree == Set(live))
            #expect(live.count == 27)
            #expect(pages >= 4)
        }
    }
}
