import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

extension ClubStoreConformance {
    private struct Refusal: Error {}

    static let folder = [
        ClubStoreConformance("a club begins with an empty folder whose last change is 0") { run in
            let (live, used) = (try await run.live(), try await run.store.usage(of: 1).used)
            #expect(live == [] && used == 0)
            #expect(try await run.lastRevision() == 0)
            #expect(run.store.epoch.utf8.count == 32)
        },
        ClubStoreConformance("a write that throws leaves nothing: no entry, no number, no content, no usage") { run in
            let kept = try await run.put("/kept", [1])
            let small = try #require(StagedContent(inline: [7]))
            let writer = try await run.store.blobs.writer()
            try await writer.write(randomBytes(200_000, seed: 1))
            let large = try await writer.finish()
            await #expect(throws: Refusal.self) {
                try await run.store.write(by: 1, storing: [small, large]) { folder in
                    for (name, content) in [("a", small), ("d/b", large)] {
                        _ = try folder.put(
                            try RemotePath(name), bytes: content.bytes, hash: content.hash, condition: .create,
                            policy: .fail)
                    }
                    #expect(try folder.state.lastRevision() == kept.revision + 3, "a write sees what it did itself")
                    throw Refusal()
                }
            }
            #expect(try await run.live() == ["/kept"])
            #expect(try await run.lastRevision() == kept.revision)
            #expect(try await run.store.usage(of: 1).used == 1)
            #expect(try await run.store.collectContents() == 0)
            #expect(try await run.put("/next", [2]).revision == kept.revision + 1)
        },
        ClubStoreConformance("a batch is applied as a whole or not at all when it asks for that") { run in
            let make = { (id: String, name: String) throws in
                SyncOperation(try #require(OperationID(id)), .create(.init(.node(.root), name), nil))
            }
            _ = try await run.put("/there", [1])
            let last = try await run.lastRevision()
            let batch = SyncBatch([try make("1", "a"), try make("2", "there")], isAllOrNothing: true)
            await #expect(throws: BatchRefused.self) {
                try await run.store.write(by: 1, storing: nil) { try $0.apply(batch) }
            }
            #expect(try await run.live() == ["/there"])
            #expect(try await run.lastRevision() == last)
            let some = SyncBatch(batch.operations)
            let outcome = try await run.store.write(by: 1, storing: nil) { try $0.apply(some) }
            #expect(outcome.results.map(\.isDone) == [true, false])
            #expect(try await run.live() == ["/a", "/there"])
        },
        ClubStoreConformance("an operation that is sent again is done once, for each member by itself") { run in
            let id = try #require(OperationID("op"))
            let content = try #require(StagedContent(inline: [5]))
            let place = SyncOperation.Place(.node(.root), "n")
            let operation = SyncOperation(id, .create(place, .init(bytes: 1, hash: content.hash)))
            var outcomes: [SyncOutcome] = []
            for member in [1, 1, 2] as [Int64] {
                let batch = SyncBatch([operation])
                outcomes.append(
                    try await run.store.write(by: member, storing: [content]) { try $0.apply(batch) })
            }
            #expect(outcomes[0].results == outcomes[1].results)
            #expect(outcomes.map { $0.results[0].isDone } == [true, true, false])
            #expect(try await run.lastRevision() == 1)
        },
        ClubStoreConformance("writes at the same time get numbers without gaps, and each is whole for every reader") {
            run in
            try await withThrowingTaskGroup(of: Int64.self) { group in
                for number in 0..<40 {
                    group.addTask { try await run.put("/\(number)/note", Array("\(number)".utf8)).revision }
                }
                for _ in 0..<40 {
                    let live = try await run.live()
                    #expect(live.count.isMultiple(of: 2), "a folder is never seen without its note")
                }
                let numbers = try await group.reduce(into: []) { $0.append($1) }
                #expect(numbers.sorted() == (1...40).map { 2 * $0 })
            }
            #expect(try await run.live().count == 80)
        },
        ClubStoreConformance("entries keep their identity when they move, and versions stay at their old places") {
            run in
            let note = try await run.put("/a/n", [1])
            let moved = try await run.move("/a", to: "/b")
            #expect(try await run.live() == ["/b", "/b/n"])
            let now = try await run.store.read { try $0.state.current(note.node) }
            #expect(now?.path.string == "/b/n" && now?.contentRevision == note.contentRevision)
            #expect(moved.placeRevision == moved.revision)
            #expect(try await run.revisions("/a/n").last == note.revision)
            #expect(try await run.bytes(note) == [1])
        },
        ClubStoreConformance("a folder of many entries is moved and deleted in one change each") { run in
            for number in 0..<30 {
                try await run.put("/d/\(number % 3)/\(number)", [UInt8(number)], by: Int64(number % 2))
            }
            let before = try await run.store.usage(of: 1).used
            try await run.move("/d", to: "/E/f")
            #expect(try await run.live().count == 35)
            #expect(try await run.store.usage(of: 1).used == before)
            try await run.delete("/E")
            #expect(try await run.live() == [])
            #expect(try await run.store.usage(of: 1).used == 0)
        },
        ClubStoreConformance("names of one key are one entry, whose letters a move may change") { run in
            try await run.put("/É", [1])
            let again = try await run.put("/e\u{301}", [2])
            #expect(try await run.revisions("/é") == [again.revision, again.revision - 1])
            #expect(try await run.live() == ["/É"])
            try await run.move("/É", to: "/é")
            #expect(try await run.live() == ["/é"])
        },
        ClubStoreConformance(
            "no club has more entries than its limit, and what shrinks is always welcome",
            HistorySettings(entries: 3, memberEntries: 2)
        ) { run in
            try await run.put("/a", [1])
            try await run.put("/b", [1])
            await run.refused(.overQuota) { try await run.put("/c", [1]) }
            try await run.put("/c", [1], by: 2)
            await run.refused(.overQuota) { try await run.put("/d", [1], by: 2) }
            try await run.put("/a", [2])
            try await run.delete("/b")
            try await run.put("/d", [1])
            #expect(try await run.live() == ["/a", "/c", "/d"])
        },
    ]

    static let journal = [
        ClubStoreConformance("the journal tells every entry once, in the order of changes, with small contents") {
            run in
            for number in 0..<20 { try await run.put("/d\(number % 4)/n\(number)", [UInt8(number)]) }
            try await run.put("/large", randomBytes(100_000, seed: 2))
            let (entries, cursor) = try await run.follow(nil, limit: 7)
            #expect(entries.count == 25)
            #expect(entries.map(\.sequence) == entries.map(\.sequence).sorted())
            #expect(cursor.position == (try await run.lastRevision()))
            #expect(try await run.follow(cursor, limit: 7).entries == [])
        },
        ClubStoreConformance("a cursor goes on where it was: changes, moves and deletions, and nothing else") { run in
            let kept = try await run.put("/kept", [1])
            let (edited, moved) = (try await run.put("/edited", [1]), try await run.put("/d/moved", [2]))
            let gone = try await run.put("/gone", [3])
            let (_, cursor) = try await run.follow(nil, limit: 100)
            try await run.delete("/gone")
            try await run.put("/edited", [4])
            try await run.move("/d", to: "/e")
            let (entries, next) = try await run.follow(cursor, limit: 1)
            #expect(Set(entries.map(\.node)) == [edited.node, gone.node, moved.parent])
            #expect(entries.first { $0.node == gone.node }?.isDeleted == true)
            #expect(!entries.contains { $0.node == kept.node })
            #expect(next.epoch == run.store.epoch && next.end == nil)
        },
        ClubStoreConformance("a page ends before its contents are over their limit, and its bodies are those it names")
        {
            run in
            for number in 0..<5 { try await run.put("/n\(number)", randomBytes(1000, seed: UInt64(number))) }
            let limits = JournalLimits(entries: 100, inlineContent: 1000, inlineBytes: 2500)
            let (page, bodies) = try await run.store.journal(after: nil, limits: limits)
            #expect(page.isReset && page.hasMore && page.sequence == nil)
            #expect(bodies.map { ContentHasher.hash($0) } == page.entries.map(\.hash))
            #expect(bodies.count == 2)
            let none = JournalLimits(entries: 100, inlineContent: nil)
            let (bare, nothing) = try await run.store.journal(after: nil, limits: none)
            #expect(nothing.isEmpty && bare.entries.count == 5 && !bare.entries.contains(where: \.isInline))
        },
        ClubStoreConformance("a cursor of another journal, or from the future, is refused") { run in
            try await run.put("/n", [1])
            let limits = JournalLimits(entries: 10)
            for cursor in [
                JournalCursor(epoch: "other", position: 1), JournalCursor(epoch: run.store.epoch, position: 9),
            ] {
                await run.refused(410) { _ = try await run.store.journal(after: cursor, limits: limits) }
            }
        },
    ]

    static let waiting = [
        ClubStoreConformance("a change wakes who waits at or above it, and nobody else") { run in
            let last = try await run.put("/notes/a", [1]).revision
            let other = Task {
                try await run.store.waitForChange(
                    after: last, prefix: PathKey(folded: "/note"), timeout: .milliseconds(500))
            }
            let waiting = ["/", "/notes", "/notes/b"].map { prefix in
                Task {
                    try await run.store.waitForChange(
                        after: last, prefix: PathKey(folded: prefix), timeout: .seconds(60))
                }
            }
            try await eventually("four changes wait") { run.store.statistics.waiting >= 4 }
            try await run.put("/notes/b", [2])
            for task in waiting { #expect(try await task.value) }
            #expect(try await !other.value)
            #expect(run.store.statistics.waiting == 0)
        },
        ClubStoreConformance("a change that is there already answers at once, and so does a position from the future") {
            run in
            try await run.put("/a/x", [1])
            let last = try await run.put("/b", [1]).revision
            let prefix = PathKey(folded: "/a")
            #expect(try await run.store.waitForChange(after: 0, prefix: prefix, timeout: .seconds(20)))
            #expect(try await !run.store.waitForChange(after: 2, prefix: prefix, timeout: .milliseconds(20)))
            #expect(try await run.store.waitForChange(after: last + 1, prefix: .root, timeout: .seconds(20)))
        },
        ClubStoreConformance("a write that is undone wakes nobody, and cancelling ends a wait") { run in
            let waiting = Task { try await run.store.waitForChange(after: 0, prefix: .root, timeout: .seconds(60)) }
            try await eventually("a change waits") { run.store.statistics.waiting > 0 }
            await #expect(throws: Refusal.self) {
                try await run.store.write(by: 1, storing: nil) { folder in
                    _ = try folder.createFolder(try RemotePath("/d"))
                    throw Refusal()
                }
            }
            #expect(run.store.statistics.waiting == 1)
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        },
    ]
}

extension ClubStoreRun {
    /// Follows pages of the journal to its end.
    fileprivate func follow(
        _ start: JournalCursor?, limit: Int
    ) async throws -> (entries: [SyncEntry], cursor: JournalCursor) {
        var (cursor, entries): (JournalCursor?, [SyncEntry]) = (start, [])
        while true {
            let (page, bodies) = try await store.journal(after: cursor, limits: JournalLimits(entries: limit))
            #expect(page.isReset == (cursor == nil))
            #expect(page.entries.count <= limit)
            #expect(bodies.map { ContentHasher.hash($0) } == page.entries.filter(\.isInline).map(\.hash))
            entries += page.entries
            let next = try #require(JournalCursor(page.cursor))
            if !page.hasMore { return (entries, next) }
            cursor = next
        }
    }
}
