import ByteClubCore
import GRDB
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Changes of whole folders in SQLite") struct SubtreeChangeTests {
    private static func name(_ generator: inout SeededGenerator) -> String {
        ["a", "A", "é", "E\u{301}", "ß.md", "a b", "a.b", "z\u{1F600}"].randomElement(using: &generator) ?? "a"
    }

    /// Moves, deletes and writes by one of three members, most of them in folders that hold something.
    private static func change(
        _ folder: inout SharedFolder, _ live: [FolderEntry], _ step: Int, _ seed: UInt64
    ) throws {
        var generator = SeededGenerator(seed: seed << 16 + UInt64(step))
        let above = live.filter(\.isFolder).map(\.path).randomElement(using: &generator) ?? .root
        let place = try above.appending(name(&generator))
        guard let subject = live.randomElement(using: &generator)?.path else {
            _ = try folder.createFolder(place)
            return
        }
        switch Int.random(in: 0..<10, using: &generator) {
        case 0...2: _ = try folder.createFolder(place)
        case 3, 4:
            let bytes = [UInt8](repeating: 1, count: Int.random(in: 0...9, using: &generator))
            _ = try folder.put(
                place, bytes: Int64(bytes.count), hash: ContentHasher.hash(bytes), condition: .overwrite, policy: .fail)
        case 5...7: _ = try folder.move(subject, to: place)
        case 8: _ = try folder.move(subject, to: (subject.parent ?? .root).appending(subject.name.uppercased()))
        default: _ = try folder.delete(subject, seen: nil)
        }
    }

    @Test("they make the versions that one by one would be made", arguments: 1...12 as ClosedRange<UInt64>)
    func versions(seed: UInt64) async throws {
        print("seed \(seed)")
        let fixture = try StoreFixture()
        for number in 0..<10 {
            let bytes = [UInt8](repeating: 1, count: number)
            try await fixture.put("/kept \(number)", bytes)
        }
        var state = ModelFolderState()
        for entry in try await fixture.store.read({ try $0.state.journal(after: 0, changedAfter: 0, limit: .max) }) {
            try state.record(entry)
        }
        for step in 0..<120 {
            let author = Int64(step % 3 + 1)
            var model = SharedFolder(state: state, now: fixture.seconds.now, author: author)
            let live = try state.descendants(.root, limit: .max)
            let expected = Result<Void, any Error> { try Self.change(&model, live, step, seed) }
            let found: Result<Void, any Error>
            do {
                try await fixture.store.write(by: author, storing: []) { try Self.change(&$0, live, step, seed) }
                found = .success(())
            } catch {
                found = .failure(error)
            }
            switch (expected, found) {
            case (.success, .success): state = try #require(model.state as? ModelFolderState)
            case (.failure(let one as APIError), .failure(let other as APIError)): #expect(one == other)
            default: Issue.record("step \(step): \(found) in place of \(expected)")
            }
            let keys = live.map(\.path.key) + [.root]
            let ask = { @Sendable (state: any FolderState) throws in
                try keys.map { key in
                    (try state.summary(below: key), try state.firstChanged(below: key, after: Int64(step)))
                }
            }
            let answers = try await fixture.store.read { try ask($0.state) }
            for (one, other) in zip(answers, try ask(state)) { #expect(one == other, "step \(step)") }
        }
        let all = try await fixture.store.query { database in
            try database.rows("SELECT path, revision FROM version ORDER BY revision") {
                "\($0[0] as String) \($0[1] as Int64)"
            }
        }
        #expect(all == state.journal.map { "\($0.path) \($0.revision)" })
        let sums = try state.descendants(.root, limit: .max).reduce(into: [Int64: Usage]()) {
            $0[$1.author, default: Usage()] += Usage($1)
        }
        for member in [1, 2, 3] as [Int64] {
            let kept = try await fixture.store.query { try UsageLedger(database: $0).member(member) }
            #expect(kept == sums[member, default: Usage()], "member \(member)")
        }
    }

    @Test("the history tells a folder's move as one change, in pages of any length, and what was done before it")
    func history() async throws {
        let fixture = try StoreFixture()
        for path in ["/f/a.md", "/f/sub/x.md", "/f/sub/deep/y.md", "/f/sub/deep/z.md", "/other.md", "/f.md"] {
            try await fixture.put(path, [1])
        }
        let start = try await fixture.store.read { try $0.state.lastRevision() }
        // All in one second and by one member, as what a move leaves behind.
        try await fixture.store.write(by: 1, storing: []) { folder in
            _ = try folder.delete(RemotePath("/other.md"), seen: nil)
            _ = try folder.move(RemotePath("/f"), to: RemotePath("/g"))
            _ = try folder.move(RemotePath("/f.md"), to: RemotePath("/g/f.md"))
            _ = try folder.move(RemotePath("/g/sub/deep"), to: RemotePath("/d"))
            _ = try folder.move(RemotePath("/g"), to: RemotePath("/f"))
            _ = try folder.delete(RemotePath("/f/a.md"), seen: nil)
            _ = try folder.move(RemotePath("/f"), to: RemotePath("/d/f"))
        }
        for limit in [1, 2, 3, 99] {
            let changes = try await fixture.store.read { folder in
                var (changes, before): ([HistoryChange], Int64?) = ([], nil)
                repeat {
                    let page = try folder.history(before: before, after: start, limit: limit)
                    #expect(page.changes.count <= limit)
                    changes += page.changes
                    before = page.before
                } while before != nil
                return changes
            }
            let told = changes.map { "\($0.action) \($0.origin.map { "\($0) " } ?? "")\($0.path)" }
            #expect(
                told == [
                    "moved /f /d/f", "removed /f/a.md", "moved /g /f", "moved /g/sub/deep /d", "moved /f.md /g/f.md",
                    "moved /f /g", "removed /other.md",
                ], "\(limit) a page")
        }
    }

    @Test("whoever waits for something below a folder hears that it has moved or is gone")
    func listeners() async throws {
        let fixture = try StoreFixture()
        try await fixture.put("/a/b/c", [1])
        for (target, prefixes) in [("/x", ["/a/b", "/x/b/c"]), (nil, ["/x/b", "/x/b/c"])] {
            let last = try await fixture.store.read { try $0.state.lastRevision() }
            let store = fixture.store
            let waits = try prefixes.map { prefix in
                let key = try RemotePath(prefix).key
                return Task { try await store.waitForChange(after: last, prefix: key, timeout: .seconds(60)) }
            }
            try await eventually("each prefix has a waiter") { store.waiterCount >= prefixes.count }
            _ = try await store.write(by: 1, storing: []) { folder in
                if let target { return try folder.move(RemotePath("/a"), to: RemotePath(target)) }
                return try folder.delete(RemotePath("/x"), seen: nil)
            }
            for wait in waits { #expect(try await wait.value) }
        }
    }
}
