import ByteClubCore
import Testing

extension RemoteConformance {
    static let listing: [RemoteConformanceCase] = [
        RemoteConformanceCase("a folder lists its children in the order of their keys") { run in
            for name in ["b.md", "A.md", "c/inner.md", "a b.md"] { try await run.put(name, name) }
            #expect(try await run.names() == ["a b.md", "A.md", "b.md", "c"])
            let listed = try #require(try await run.remote.list(run.path(), unless: nil, includeDeleted: false))
            #expect(listed.isFolder && listed.hash != nil)
            #expect(try #require(listed.contents).allSatisfy { $0.hash == nil && $0.contents == nil })
            #expect(try await run.remote.metadata(at: run.path()).contents == nil)
        },
        RemoteConformanceCase("a listing is told again only when it has changed") { run in
            try await run.put("1", "a.md")
            let first = try #require(try await run.remote.list(run.path(), unless: nil, includeDeleted: false))
            let hash = try #require(first.hash)
            #expect(try await run.remote.list(run.path(), unless: hash, includeDeleted: false) == nil)
            try await run.put("2", "a.md")
            let second = try #require(try await run.remote.list(run.path(), unless: hash, includeDeleted: false))
            #expect(second.hash != hash)
            #expect(try await run.remote.list(run.path(), unless: second.hash, includeDeleted: true) != nil)
            _ = try await run.remote.delete(run.path("a.md"), ifUnchangedSince: nil)
            let third = try await run.remote.list(run.path(), unless: second.hash, includeDeleted: false)
            #expect(try #require(third).contents == [])
        },
        RemoteConformanceCase("deleted children are listed on demand") { run in
            try await run.put("1", "gone.md")
            try await run.put("2", "there.md")
            _ = try await run.remote.delete(run.path("gone.md"), ifUnchangedSince: nil)
            #expect(try await run.names() == ["there.md"])
            let all = try #require(try await run.remote.list(run.path(), unless: nil, includeDeleted: true))
            let gone = try #require(all.contents?.first)
            #expect(gone.path.name == "gone.md" && gone.isDeleted && gone.bytes == 0)
        },
        RemoteConformanceCase("what never was is not found, what is gone is told as deleted") { run in
            await run.refused(.notFound) { try await run.remote.metadata(at: run.path("never")) }
            await run.refused(.notFound) {
                try await run.remote.list(run.path("never"), unless: nil, includeDeleted: false)
            }
            try await run.put("1", "a.md")
            _ = try await run.remote.delete(run.path("a.md"), ifUnchangedSince: nil)
            #expect(try await run.remote.metadata(at: run.path("a.md")).isDeleted)
            let listed = try await run.remote.list(run.path("a.md"), unless: nil, includeDeleted: false)
            #expect(try #require(listed).isDeleted)
        },
        RemoteConformanceCase("a listed file is described without contents") { run in
            let stored = try await run.put("1", "a.md")
            #expect(try await run.remote.list(run.path("a.md"), unless: nil, includeDeleted: false) == stored)
        },
        RemoteConformanceCase("the root is a folder without a version") { run in
            try await run.put("1", "a.md")
            let root = try await run.remote.metadata(at: .root)
            #expect(root.isFolder && root.path.isRoot && root.rev == nil && root.modified == nil)
            let folder = try run.path()
            let listed = try #require(try await run.remote.list(.root, unless: nil, includeDeleted: false))
            #expect(listed.contents?.contains { $0.path == folder } == true)
        },
        RemoteConformanceCase("each member is somebody") { run in
            let (first, second) = (try await run.remote.account(), try await run.second.account())
            #expect(first.uid != second.uid)
            #expect(!first.displayName.isEmpty)
            _ = try await run.remote.powers()
        },
    ]

    static let reading: [RemoteConformanceCase] = [
        RemoteConformanceCase("a part of a file can be read") { run in
            try await run.put("0123456789", "n.txt")
            let path = try run.path("n.txt")
            let read = { (range: Range<Int64>) in
                try await run.remote.content(at: path, revision: nil, range: range, limit: 100)
            }
            let part = try await read(2..<5)
            #expect(part.bytes == Array("234".utf8))
            #expect(part.metadata.bytes == 10)
            #expect(try await read(7..<100).bytes == Array("789".utf8))
            #expect(try await read(0..<10).bytes == Array("0123456789".utf8))
            await run.refused(.badRequest) { try await read(10..<12) }
            await run.refused(.badRequest) { try await read(4..<4) }
        },
        RemoteConformanceCase("an old version can be read") { run in
            let first = try await run.put("one", "n.md")
            try await run.put("two", "n.md")
            #expect(try await run.text("n.md", revision: first.rev) == "one")
            #expect(try await run.text("n.md") == "two")
            await run.refused(.notFound) { try await run.text("n.md", revision: Revision.number(1 << 40)) }
        },
        RemoteConformanceCase("more than the limit is not read") { run in
            try await run.put("0123456789", "n.txt")
            let path = try run.path("n.txt")
            await run.refused(.tooLarge) {
                try await run.remote.content(at: path, revision: nil, range: nil, limit: 9)
            }
            let all = try await run.remote.content(at: path, revision: nil, range: nil, limit: 10)
            #expect(all.bytes.count == 10)
        },
        RemoteConformanceCase("a folder, a missing and a deleted file have no content") { run in
            try await run.put("1", "folder/a.md")
            await run.refused(.notFound) { try await run.text("folder") }
            await run.refused(.notFound) { try await run.text("never") }
            _ = try await run.remote.delete(run.path("folder/a.md"), ifUnchangedSince: nil)
            await run.refused(.notFound) { try await run.text("folder/a.md") }
        },
    ]
}
