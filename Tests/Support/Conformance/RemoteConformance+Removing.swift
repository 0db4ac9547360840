import ByteClubCore
import Testing

extension RemoteConformance {
    static let removing: [RemoteConformanceCase] = [
        RemoteConformanceCase("a deleted file is gone and told so") { run in
            let stored = try await run.put("1", "a.md")
            let gone = try await run.remote.delete(run.path("a.md"), ifUnchangedSince: nil)
            #expect(gone.isDeleted && gone.bytes == 0)
            try await run.expectLater(gone, than: stored)
            #expect(try await run.names() == [])
            await run.refused(.notFound) { try await run.remote.delete(run.path("a.md"), ifUnchangedSince: nil) }
            await run.refused(.notFound) { try await run.remote.delete(run.path("never"), ifUnchangedSince: nil) }
        },
        RemoteConformanceCase("a file that changed after it was seen is not deleted") { run in
            let seen = try #require(try await run.put("1", "a.md").rev)
            let newer = try #require(try await run.put("2", "a.md", by: run.second).rev)
            await run.refused(.conflict) { try await run.remote.delete(run.path("a.md"), ifUnchangedSince: seen) }
            #expect(try await run.text("a.md") == "2")
            #expect(try await run.remote.delete(run.path("a.md"), ifUnchangedSince: newer).isDeleted)
        },
        RemoteConformanceCase("a folder is deleted with all below it") { run in
            try await run.put("1", "f/a.md")
            try await run.put("2", "f/g/b.md")
            try await run.put("3", "f.md")
            let gone = try await run.remote.delete(run.path("f"), ifUnchangedSince: nil)
            #expect(gone.isDeleted && gone.isFolder)
            #expect(try await run.names() == ["f.md"])
            #expect(try await run.remote.metadata(at: run.path("f/g/b.md")).isDeleted)
        },
        RemoteConformanceCase("a folder in which something is newer than was seen is not deleted") { run in
            try await run.put("1", "f/a.md")
            let seen = try #require(try await run.put("2", "f/g/b.md").rev)
            let newer = try #require(try await run.put("3", "f/g/b.md", by: run.second).rev)
            await run.refused(.conflict) { try await run.remote.delete(run.path("f"), ifUnchangedSince: seen) }
            #expect(try await run.text("f/g/b.md") == "3")
            #expect(try await run.text("f/a.md") == "1")
            #expect(try await run.remote.delete(run.path("f"), ifUnchangedSince: newer).isDeleted)
        },
        RemoteConformanceCase("a folder is made once") { run in
            let made = try await run.remote.createFolder(run.path("f/g"))
            #expect(made.isFolder && made.rev != nil)
            #expect(try await run.names("f") == ["g"])
            await run.refused(.forbidden) { try await run.remote.createFolder(run.path("F/G")) }
            try await run.put("1", "file")
            await run.refused(.forbidden) { try await run.remote.createFolder(run.path("file")) }
            await run.refused(.forbidden) { try await run.remote.createFolder(run.path("file/below")) }
        },
    ]

    static let moving: [RemoteConformanceCase] = [
        RemoteConformanceCase("a file moves with its content, into folders made for it") { run in
            let stored = try await run.put("one", "a.md")
            let moved = try await run.remote.move(run.path("a.md"), to: run.path("new/place/b.md"))
            #expect(moved.path == (try run.path("new/place/b.md")) && moved.bytes == 3)
            try await run.expectLater(moved, than: stored)
            #expect(try await run.text("new/place/b.md") == "one")
            #expect(try await run.remote.metadata(at: run.path("a.md")).isDeleted)
        },
        RemoteConformanceCase("a folder moves with all below it") { run in
            try await run.put("1", "f/a.md")
            try await run.put("2", "f/g/b.md")
            let moved = try await run.remote.move(run.path("f"), to: run.path("h"))
            #expect(moved.isFolder && moved.path.name == "h")
            #expect(try await run.names() == ["h"])
            #expect(try await run.text("h/a.md") == "1")
            #expect(try await run.text("h/g/b.md") == "2")
            #expect(try await run.remote.metadata(at: run.path("f/g/b.md")).isDeleted)
        },
        RemoteConformanceCase("a move that changes case alone renames in place") { run in
            try await run.put("1", "trip.md")
            try await run.put("2", "f/inner.md")
            #expect(try await run.remote.move(run.path("trip.md"), to: run.path("Trip.md")).path.name == "Trip.md")
            _ = try await run.remote.move(run.path("f"), to: run.path("F"))
            #expect(try await run.names() == ["F", "Trip.md"])
            #expect(try await run.text("f/inner.md") == "2")
            #expect(try await run.text("trip.md") == "1")
        },
        RemoteConformanceCase("nothing moves onto something, into itself, or from nowhere") { run in
            try await run.put("1", "a.md")
            try await run.put("2", "b.md")
            try await run.put("3", "f/g/c.md")
            await run.refused(.forbidden) { try await run.remote.move(run.path("a.md"), to: run.path("b.md")) }
            await run.refused(.forbidden) { try await run.remote.move(run.path("f"), to: run.path("f/g/f")) }
            await run.refused(.forbidden) { try await run.remote.copy(run.path("f"), to: run.path("F/g/f")) }
            await run.refused(.forbidden) { try await run.remote.copy(run.path("a.md"), to: run.path("A.MD")) }
            await run.refused(.forbidden) { try await run.remote.copy(run.path("a.md"), to: run.path("b.md/x")) }
            await run.refused(.notFound) { try await run.remote.move(run.path("never"), to: run.path("x")) }
            await run.refused(.notFound) { try await run.remote.copy(run.path("never"), to: run.path("x")) }
            #expect(try await run.names() == ["a.md", "b.md", "f"])
            #expect(try await run.text("f/g/c.md") == "3")
        },
        RemoteConformanceCase("a copy starts a history of its own") { run in
            try await run.put("1", "f/a.md")
            try await run.put("2", "f/a.md")
            _ = try await run.remote.copy(run.path("f"), to: run.path("copy"))
            #expect(try await run.text("copy/a.md") == "2")
            #expect(try await run.text("f/a.md") == "2")
            #expect(try await run.remote.revisions(of: run.path("copy/a.md"), limit: 10).count == 1)
        },
    ]

    static let versions: [RemoteConformanceCase] = [
        RemoteConformanceCase("versions are told newest first, deletions among them") { run in
            let first = try await run.put("1", "a.md")
            let second = try await run.put("22", "a.md")
            let gone = try await run.remote.delete(run.path("a.md"), ifUnchangedSince: nil)
            let versions = try await run.remote.revisions(of: run.path("a.md"), limit: 10)
            #expect(versions.map(\.rev) == [gone.rev, second.rev, first.rev])
            #expect(versions.map(\.isDeleted) == [true, false, false])
            #expect(versions.map(\.bytes) == [0, 2, 1])
            #expect(try await run.remote.revisions(of: run.path("a.md"), limit: 2).count == 2)
            let older = try await run.remote.revisions(of: run.path("a.md"), before: second.rev, limit: 10)
            #expect(older.map(\.rev) == [first.rev])
        },
        RemoteConformanceCase("each version tells who made it, whatever made it") { run in
            let (first, second) = (try await run.remote.account(), try await run.second.account())
            let stored = try await run.put("1", "f/a.md")
            let edited = try await run.put("2", "f/a.md", by: run.second)
            let same = try await run.put("2", "f/a.md")
            #expect([stored, edited, same].map(\.modifier?.uid) == [first.uid, second.uid, second.uid])
            let path = try run.path("f/a.md")
            let restored = try await run.second.restore(path, to: #require(stored.rev))
            let moved = try await run.remote.move(path, to: run.path("f/b.md"))
            let copied = try await run.second.copy(moved.path, to: run.path("c.md"))
            let folder = try await run.second.createFolder(run.path("g"))
            let gone = try await run.second.delete(moved.path, ifUnchangedSince: nil)
            #expect(
                [restored, moved, copied, folder, gone].map(\.modifier?.uid)
                    == [second.uid, first.uid, second.uid, second.uid, second.uid])
            let versions = try await run.remote.revisions(of: path, limit: 10)
            #expect(
                versions.map(\.modifier?.displayName) == [
                    first.displayName, second.displayName, second.displayName, first.displayName,
                ])
            let listed = try #require(try await run.remote.list(run.path(), unless: nil, includeDeleted: false))
            #expect(listed.contents?.map(\.modifier?.uid) == [second.uid, first.uid, second.uid])
            let told = try await run.remote.delta(after: nil, prefix: copied.path)
            #expect(told.entries.map(\.metadata?.modifier) == [copied.modifier])
            let read = try await run.remote.content(at: copied.path, revision: nil, range: nil, limit: 10)
            #expect(read.metadata.modifier == copied.modifier)
        },
        RemoteConformanceCase("a folder has no versions, nor has what never was") { run in
            try await run.put("1", "f/a.md")
            await run.refused(.notFound) { try await run.remote.revisions(of: run.path("f"), limit: 10) }
            await run.refused(.notFound) { try await run.remote.revisions(of: run.path("never"), limit: 10) }
        },
        RemoteConformanceCase("restoring makes a new version with the old content") { run in
            let first = try await run.put("one", "a.md")
            let second = try await run.put("two", "a.md")
            let restored = try await run.remote.restore(run.path("a.md"), to: #require(first.rev))
            try await run.expectLater(restored, than: second)
            #expect(try await run.text("a.md") == "one")
            #expect(try await run.remote.revisions(of: run.path("a.md"), limit: 10).count == 3)
        },
        RemoteConformanceCase("a deleted file is restored, with its folder") { run in
            let stored = try await run.put("one", "f/a.md")
            _ = try await run.remote.delete(run.path("f"), ifUnchangedSince: nil)
            let gone = try await run.remote.metadata(at: run.path("f/a.md"))
            _ = try await run.remote.restore(run.path("f/a.md"), to: #require(stored.rev))
            #expect(try await run.text("f/a.md") == "one")
            await run.refused(.badRequest) {
                try await run.remote.restore(run.path("f/a.md"), to: #require(gone.rev))
            }
            await run.refused(.notFound) {
                try await run.remote.restore(run.path("f/a.md"), to: Revision.number(1 << 40))
            }
        },
    ]
}
