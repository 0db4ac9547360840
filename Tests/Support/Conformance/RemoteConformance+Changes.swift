import ByteClubCore
import Testing

extension RemoteConformance {
    static let changes: [RemoteConformanceCase] = [
        RemoteConformanceCase("the first changes are the whole state, a parent before its children") { run in
            try await run.put("1", "f/g/a.md")
            try await run.put("2", "b.md")
            try await run.put("3", "gone.md")
            _ = try await run.remote.delete(run.path("gone.md"), ifUnchangedSince: nil)
            let (entries, _, reset) = try await run.drain(after: nil, prefix: run.path())
            #expect(reset)
            #expect(entries.allSatisfy { $0.metadata != nil })
            #expect(
                Set(entries.map(\.key)) == Set(try ["", "f", "f/g", "f/g/a.md", "b.md"].map { try run.path($0).key }))
            var seen: Set<PathKey> = []
            for entry in entries {
                if entry.key != (try run.path().key) { #expect(entry.key.parent.map { seen.contains($0) } == true) }
                seen.insert(entry.key)
                #expect(entry.metadata?.path.key == entry.key)
                #expect(entry.metadata?.contents == nil && entry.metadata?.hash == nil)
            }
        },
        RemoteConformanceCase("later changes are told in their order, with nothing for what is gone") { run in
            try await run.put("1", "a.md")
            try await run.put("1", "f/b.md")
            let (_, cursor, _) = try await run.drain(after: nil, prefix: run.path())
            #expect(try await run.drain(after: cursor, prefix: run.path()).entries.isEmpty)
            let edited = try await run.put("2", "a.md", by: run.second)
            _ = try await run.remote.delete(run.path("f"), ifUnchangedSince: nil)
            let made = try await run.put("3", "new.md")
            let (entries, next, reset) = try await run.drain(after: cursor, prefix: run.path())
            #expect(!reset)
            #expect(entries.first == DeltaEntry(key: try run.path("a.md").key, metadata: edited))
            #expect(entries.last == DeltaEntry(key: try run.path("new.md").key, metadata: made))
            #expect(entries.contains(DeltaEntry(key: try run.path("f").key, metadata: nil)))
            #expect(try await run.drain(after: next, prefix: run.path()).entries.isEmpty)
        },
        RemoteConformanceCase("a move is told as one loss and one new entry") { run in
            let (_, cursor, _) = try await run.drain(after: nil, prefix: run.path())
            try await run.put("1", "a.md")
            let moved = try await run.remote.move(run.path("a.md"), to: run.path("b.md"))
            let entries = try await run.drain(after: cursor, prefix: run.path()).entries
            #expect(entries.filter { $0.metadata == nil }.map(\.key) == [try run.path("a.md").key])
            #expect(entries.contains(DeltaEntry(key: try run.path("b.md").key, metadata: moved)))
        },
        RemoteConformanceCase("many changes come in pages that join without a gap") { run in
            for number in 0..<40 { try await run.put("\(number)", "n\(number).md") }
            let (entries, cursor, _) = try await run.drain(after: nil, prefix: run.path())
            #expect(entries.count == 41)
            for number in 0..<20 { try await run.put("again \(number)", "n\(number).md") }
            let again = try await run.drain(after: cursor, prefix: run.path()).entries
            #expect(again.map(\.key) == (try (0..<20).map { try run.path("n\($0).md").key }))
        },
        RemoteConformanceCase("changes elsewhere are not told under a prefix") { run in
            try await run.put("1", "in/a.md")
            try await run.put("2", "in.md")
            let (entries, cursor, _) = try await run.drain(after: nil, prefix: run.path("IN"))
            #expect(Set(entries.map(\.key)) == [try run.path("in").key, try run.path("in/a.md").key])
            try await run.put("3", "in.md")
            #expect(try await run.drain(after: cursor, prefix: run.path("in")).entries.isEmpty)
            #expect(try await run.drain(after: nil, prefix: run.path("never")).entries.isEmpty)
            await run.refused(.badCursor) { try await run.remote.delta(after: cursor, prefix: run.path("other")) }
        },
        RemoteConformanceCase("a cursor that was made up or given to another is refused") { run in
            let cursor = try await run.remote.delta(after: nil, prefix: run.path()).cursor
            var forged = Array(cursor.utf8)
            forged[forged.count / 2] = forged[forged.count / 2] == 48 ? 49 : 48
            for text in ["nonsense", String(decoding: forged, as: UTF8.self)] {
                await run.refused(.badCursor) { try await run.remote.delta(after: text, prefix: run.path()) }
                await run.refused(.badCursor) {
                    try await run.remote.waitForChanges(after: text, timeout: .seconds(30))
                }
            }
            await run.refused(.badCursor) { try await run.second.delta(after: cursor, prefix: run.path()) }
        },
        RemoteConformanceCase("a wait ends at once when there is a change already") { run in
            let (_, cursor, _) = try await run.drain(after: nil, prefix: run.path())
            try await run.put("1", "a.md")
            let start = ContinuousClock.now
            #expect(try await run.remote.waitForChanges(after: cursor, timeout: .seconds(480)).changes)
            #expect(start.duration(to: .now) < .seconds(400), "it ended with its time")
        },
        RemoteConformanceCase("a wait ends when another member makes a change") { run in
            let (_, cursor, _) = try await run.drain(after: nil, prefix: run.path())
            let start = ContinuousClock.now
            async let waiting = run.remote.waitForChanges(after: cursor, timeout: .seconds(480))
            try await Task.sleep(for: .milliseconds(50))
            try await run.put("1", "a.md", by: run.second)
            #expect(try await waiting.changes)
            #expect(start.duration(to: .now) < .seconds(400), "it ended with its time")
        },
        RemoteConformanceCase("a wait that is cancelled ends promptly") { run in
            let (_, cursor, _) = try await run.drain(after: nil, prefix: run.path())
            let waiting = Task { try await run.remote.waitForChanges(after: cursor, timeout: .seconds(480)) }
            try await Task.sleep(for: .milliseconds(50))
            let start = ContinuousClock.now
            waiting.cancel()
            await run.refused(.cancelled) { try await waiting.value }
            #expect(start.duration(to: .now) < .seconds(400), "it ended with its time")
        },
    ]
}
