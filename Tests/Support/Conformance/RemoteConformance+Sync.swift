import ByteClubCore
import Testing

extension RemoteConformance {
    /// What remotes with ``RemotePowers/sync`` do besides.
    public static let syncCases = identities + preconditions + batches + journal + chunks

    static let identities: [RemoteConformanceCase] = [
        RemoteConformanceCase(sync: "the account tells of the powers") { run, _, _ in
            let (powers, account) = (try await run.remote.powers(), try await run.remote.account())
            #expect(powers.sync != nil && account.extensions?.sync == true)
        },
        RemoteConformanceCase(sync: "an identity outlives edits and moves by clients that know none") {
            run, sync, root in
            let made = try await sync.create("a.md", "1", in: root)
            try await run.put("2", "a.md")
            _ = try await run.remote.move(run.path("a.md"), to: run.path("sub/b.md"))
            let (entries, _) = try await sync.drain()
            let now = try #require(entries[made.node])
            #expect(now.name == "b.md" && now.parent != root && entries[now.parent]?.name == "sub")
            #expect(now.revision > made.revision && now.placeRevision > now.revision)
            #expect(now.hash == ContentHasher.hash(Array("2".utf8)))
        },
        RemoteConformanceCase(sync: "a move keeps the content's revision and an edit the place's") { run, sync, root in
            let made = try await sync.create("a.md", "1", in: root)
            let moved = try await sync.done(
                .move(made.node, .init(.node(root), "b.md")), if: .init(placeRevision: made.placeRevision))
            #expect(moved.revision == made.revision && moved.placeRevision > made.placeRevision)
            let edited = try await sync.done(
                .edit(made.node, .init(bytes: 1)), "2", if: .init(revision: made.revision))
            #expect(edited.placeRevision == moved.placeRevision && edited.revision > made.revision)
            #expect(edited.name == "b.md" && edited.bytes == 1)
            #expect(try await run.text("b.md") == "2")
        },
        RemoteConformanceCase(sync: "a deleted entry comes back as itself, by restoring and by reviving") {
            run, sync, root in
            let made = try await sync.create("a.md", "1", in: root)
            let gone = try await sync.done(.delete(made.node), if: .init(revision: made.revision))
            #expect(gone.isDeleted && gone.node == made.node && gone.revision > made.revision && gone.hash == nil)
            _ = try await run.remote.restore(run.path("a.md"), to: Revision.number(made.sequence))
            let restored = try #require(try await sync.drain().entries[made.node])
            #expect(!restored.isDeleted && restored.hash == made.hash)
            let again = try await sync.done(.delete(made.node))
            let undeleted = try await sync.done(
                .undelete(made.node, .init(.node(root), "c.md"), .init(bytes: 1)), "3",
                if: .init(revision: again.revision))
            #expect(undeleted.node == made.node && undeleted.name == "c.md")
            #expect(try await run.text("c.md") == "3")
        },
        RemoteConformanceCase(sync: "a copy is another entry") { run, sync, root in
            let made = try await sync.create("a.md", "1", in: root)
            _ = try await run.remote.copy(run.path("a.md"), to: run.path("b.md"))
            let children = try await sync.drain().entries.values.filter { $0.parent == root }
            #expect(children.count == 2 && Set(children.map(\.node)).contains(made.node))
            #expect(Set(children.map(\.hash)) == [made.hash])
        },
    ]

    static let preconditions: [RemoteConformanceCase] = [
        RemoteConformanceCase(sync: "an edit of a stale content tells what is there") { run, sync, root in
            let made = try await sync.create("a.md", "1", in: root)
            let newer = try await sync.done(.edit(made.node, .init(bytes: 1)), "2")
            let result = try await sync.send(.edit(made.node, .init(bytes: 1)), "3", if: .init(revision: made.revision))
            #expect(result.status == 412 && result.entry == newer && result.message?.isEmpty == false)
            #expect(try await run.text("a.md") == "2")
        },
        RemoteConformanceCase(sync: "a place that is taken tells by what, whatever the case") { run, sync, root in
            let made = try await sync.create("a.md", "1", in: root)
            let other = try await sync.create("b.md", "2", in: root)
            for action in [
                SyncOperation.Action.create(.init(.node(root), "A.MD"), nil),
                .move(other.node, .init(.node(root), "A.md")),
            ] {
                let result = try await sync.send(action)
                #expect(result.status == 409 && result.entry == made)
            }
            let renamed = try await sync.done(.move(made.node, .init(.node(root), "A.md")))
            #expect(renamed.name == "A.md" && renamed.node == made.node)
            #expect(try await run.names().sorted() == ["A.md", "b.md"])
        },
        RemoteConformanceCase(sync: "a stale move, a folder into itself and a folder that is gone are refused") {
            run, sync, root in
            let folder = try await sync.done(.create(.init(.node(root), "f"), nil))
            let inner = try await sync.done(.create(.init(.node(folder.node), "g"), nil))
            let file = try await sync.create("a.md", "1", in: folder.node)
            #expect(try await sync.send(.move(folder.node, .init(.node(inner.node), "f"))).status == 409)
            #expect(try await sync.send(.move(folder.node, .init(.node(folder.node), "f"))).status == 409)
            let moved = try await sync.done(.move(file.node, .init(.node(root), "a.md")))
            let stale = try await sync.send(
                .move(file.node, .init(.node(root), "b.md")), if: .init(placeRevision: file.placeRevision))
            #expect(stale.status == 412 && stale.entry == moved)
            let gone = try await sync.done(.delete(inner.node))
            let lost = try await sync.send(.move(file.node, .init(.node(inner.node), "a.md")))
            #expect(lost.status == 409 && lost.entry == gone)
            #expect(try await sync.send(.edit(NodeID(1 << 60), .init(bytes: 1)), "x").status == 404)
            #expect(try await sync.send(.create(.init(.node(file.node), "x"), nil)).status == 409)
            #expect(try await sync.send(.delete(.root)).status == 403)
            for name in ["", "a/b", "..", ".DS_Store", String(repeating: "n", count: 256)] {
                #expect(try await sync.send(.create(.init(.node(root), name), nil)).status == 400, "\(name)")
            }
        },
        RemoteConformanceCase(sync: "a folder is deleted only while nothing in it is newer than what was seen") {
            run, sync, root in
            let folder = try await sync.done(.create(.init(.node(root), "f"), nil))
            let file = try await sync.create("a.md", "1", in: folder.node)
            let (_, seen) = try await sync.drain()
            let newer = try await sync.done(.edit(file.node, .init(bytes: 1)), "2")
            let refused = try await sync.send(.delete(folder.node), if: .init(seen: seen))
            #expect(refused.status == 412 && refused.entry == newer)
            _ = try await sync.done(.move(root, .init(.node(.root), "renamed \(root)")))
            let gone = try await sync.done(.delete(folder.node), if: .init(seen: newer.sequence))
            #expect(gone.isDeleted && gone.isFolder)
            #expect(try await sync.drain().entries[file.node]?.isDeleted ?? true)
        },
    ]

    static let batches: [RemoteConformanceCase] = [
        RemoteConformanceCase(sync: "what is sent again under its name answers the same and is not done again") {
            run, sync, root in
            let id = sync.nextID()
            let batch = SyncBatch([SyncOperation(id, .create(.init(.node(root), "a.md"), .init(bytes: 1)))])
            let first = try await sync.remote.apply(batch, contents: [[49]])
            async let one = sync.remote.apply(batch, contents: [[49]])
            async let two = sync.remote.apply(batch, contents: [[49]])
            let again = try await [one, two]
            #expect(again.map(\.results) == [first.results, first.results])
            #expect(again.map(\.sequence) == [first.sequence, first.sequence])
            #expect(first.results.map(\.status) == [200])
            let made = try #require(first.results.first?.entry)
            _ = try await sync.done(.edit(made.node, .init(bytes: 1)), "2")
            #expect(try await sync.remote.apply(batch, contents: [[49]]).results == first.results)
            let other = try await sync.second.apply(batch, contents: [[49]])
            #expect(other.results.map(\.status) == [409], "another member's operation of that name is another one")
        },
        RemoteConformanceCase(sync: "copies that race do the thing once") { run, sync, root in
            let batch = SyncBatch([SyncOperation(sync.nextID(), .create(.init(.node(root), "a.md"), .init(bytes: 1)))])
            let all = try await withThrowingTaskGroup(of: SyncOutcome.self) { group in
                for _ in 0..<8 { group.addTask { try await sync.remote.apply(batch, contents: [[49]]) } }
                return try await group.reduce(into: [SyncOutcome]()) { $0.append($1) }
            }
            #expect(Set(all.map(\.results)).count == 1 && all.allSatisfy { $0.results.map(\.status) == [200] })
            #expect(try await run.names() == ["a.md"])
        },
        RemoteConformanceCase(sync: "operations may build on those before them, and fail with them") {
            run, sync, root in
            let results = try await sync.apply([
                (.create(.init(.node(root), "f"), nil), nil),
                (.create(.init(.operation(0), "g"), nil), nil),
                (.create(.init(.operation(1), "a.md"), .init(bytes: 1)), "1"),
                (.create(.init(.operation(0), "G"), nil), nil),
                (.create(.init(.operation(3), "b.md"), .init(bytes: 1)), "2"),
                (.create(.init(.operation(9), "c.md"), .init(bytes: 1)), "3"),
            ]).results
            #expect(results.map(\.status) == [200, 200, 200, 409, 424, 400])
            #expect(results[3].entry == results[1].entry)
            #expect(try await run.text("f/g/a.md") == "1")
            #expect(try await run.names("f/g") == ["a.md"])
        },
        RemoteConformanceCase(sync: "all or nothing leaves no trace when one operation is refused") { run, sync, root in
            let made = try await sync.create("a.md", "1", in: root)
            let (_, before) = try await sync.drain()
            let operations: [(SyncOperation.Action, String?)] = [
                (.create(.init(.node(root), "b.md"), .init(bytes: 1)), "2"),
                (.create(.init(.node(root), "a.md"), nil), nil),
                (.delete(made.node), nil),
            ]
            let outcome = try await sync.apply(operations, isAllOrNothing: true)
            #expect(!outcome.isApplied && outcome.results.map(\.status) == [424, 409, 424])
            #expect(outcome.sequence == before && outcome.results[1].entry == made)
            #expect(try await run.names() == ["a.md"])
            let all = try await sync.apply([operations[0], operations[2]], isAllOrNothing: true)
            #expect(all.isApplied && all.results.map(\.status) == [200, 200])
        },
        RemoteConformanceCase(sync: "a batch beyond its limits is refused whole") { run, sync, root in
            let many: [(SyncOperation.Action, String?)] = (0...1000).map {
                (.create(.init(.node(root), "n\($0)"), nil), nil)
            }
            await run.refused(.tooLarge) { try await sync.apply(many) }
            let large = String(repeating: "x", count: (64 << 10) + 1)
            let content = SyncOperation.Content(bytes: Int64(large.utf8.count))
            await run.refused(.tooLarge) {
                try await sync.send(.create(.init(.node(root), "large"), content), large)
            }
            let names = try await run.names()
            #expect(names == [])
        },
        RemoteConformanceCase(sync: "a refused operation may be sent again under its name") { run, sync, root in
            let other = try await sync.create("a.md", "1", in: root)
            let batch = SyncBatch([SyncOperation(sync.nextID(), .create(.init(.node(root), "a.md"), .init(bytes: 1)))])
            #expect(try await sync.remote.apply(batch, contents: [[50]]).results.map(\.status) == [409])
            _ = try await sync.done(.delete(other.node))
            #expect(try await sync.remote.apply(batch, contents: [[50]]).results.map(\.status) == [200])
        },
    ]
}
