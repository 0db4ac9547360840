import ByteClubCore
import Testing

extension RemoteConformance {
    static let putting: [RemoteConformanceCase] = [
        RemoteConformanceCase("a put makes missing parents and tells what is stored") { run in
            let stored = try await run.put("hello", "a/b/note.md")
            #expect(stored.path == (try run.path("a/b/note.md")))
            #expect(stored.bytes == 5 && !stored.isFolder && !stored.isDeleted)
            #expect(stored.rev != nil && stored.modified != nil && stored.mimeType == "text/markdown")
            if try await run.remote.powers().contentHash {
                #expect(stored.contentHash == ContentHasher.hash(Array("hello".utf8)))
            }
            #expect(try await run.remote.metadata(at: run.path("a/b")).isFolder)
            #expect(try await run.second.metadata(at: run.path("a/b/note.md")) == stored)
            #expect(try await run.text("a/b/note.md") == "hello")
        },
        RemoteConformanceCase("the time when a content was made is kept to the nanosecond, wherever the file goes") {
            run in
            let (path, made) = (try run.path("f/old.md"), FileTime(nanoseconds: 1_525_478_400_123_456_789))
            let stored = try await run.remote.put(
                .bytes([1]), at: path, modified: made, condition: .create, policy: .fail, progress: nil)
            #expect(stored.fileTime == made && stored.clientModified == made.date && stored.modified != made.date)
            _ = try await run.remote.move(run.path("f"), to: run.path("g"))
            let moved = try run.path("g/old.md")
            let copied = try await run.remote.copy(moved, to: run.path("copy.md"))
            #expect(copied.fileTime == made)
            let listed = try #require(try await run.remote.list(run.path("g"), unless: nil, includeDeleted: false))
            #expect(listed.contents?.map(\.fileTime) == [made])
            #expect(try await run.second.metadata(at: moved).fileTime == made)
            let read = try await run.second.content(at: moved, revision: nil, range: nil, limit: 10)
            #expect(read.metadata.fileTime == made)
            let edited = try await run.put("2", "g/old.md")
            #expect(edited.clientModified == edited.modified && edited.clientNanoseconds == nil)
            let versions = try await run.remote.revisions(of: moved, limit: 10)
            #expect(versions.map { $0.fileTime == made } == [false, true])
            let restored = try await run.remote.restore(moved, to: #require(versions.last?.rev))
            #expect(restored.fileTime == made)
            // Older than the first second of 1970.
            let ancient = FileTime(nanoseconds: -1)
            let old = try await run.remote.put(
                .bytes([3]), at: run.path("1969.md"), modified: ancient, condition: .create, policy: .fail,
                progress: nil)
            #expect(old.fileTime == ancient && old.clientNanoseconds == 999_999_999)
            let gone = try await run.remote.delete(moved, ifUnchangedSince: nil)
            #expect(gone.clientModified == gone.modified && gone.clientNanoseconds == nil)
        },
        RemoteConformanceCase("whether a file may be executed is kept, and a change of that alone is a version") {
            run in
            let path = try run.path("run.sh")
            func put(_ byte: UInt8, _ isExecutable: Bool?) async throws -> Metadata {
                try await run.remote.put(
                    .bytes([byte]), at: path, modified: nil, executable: isExecutable, condition: .overwrite,
                    policy: .fail, progress: nil)
            }
            let plain = try await put(1, nil)
            #expect(plain.isExecutable == nil)
            #expect(try await put(1, false).rev == plain.rev, "it is what everybody takes it for")
            let script = try await put(1, true)
            #expect(script.isExecutable == true && script.contentHash == plain.contentHash)
            try await run.expectLater(script, than: plain)
            for same in [nil, true] { #expect(try await put(1, same).rev == script.rev) }
            #expect(try await put(2, nil).isExecutable == true, "who says nothing changes nothing")
            let moved = try await run.remote.move(path, to: run.path("f.sh"))
            let copied = try await run.remote.copy(moved.path, to: run.path("copy.sh"))
            #expect(moved.isExecutable == true && copied.isExecutable == true)
            let restored = try await run.remote.restore(moved.path, to: #require(moved.rev))
            #expect(restored.isExecutable == true)
            #expect(try await run.second.metadata(at: copied.path).isExecutable == true)
            #expect(try await run.remote.delete(moved.path, ifUnchangedSince: nil).isExecutable == nil)
        },
        RemoteConformanceCase("an empty file is a file") { run in
            let stored = try await run.put("", "empty.txt", .create, .fail)
            #expect(stored.bytes == 0 && !stored.isFolder)
            #expect(try await run.text("empty.txt").isEmpty)
        },
        RemoteConformanceCase("an overwrite replaces the content and makes a higher revision") { run in
            let first = try await run.put("one", "n.md")
            let again = try await run.put("two", "n.md", by: run.second)
            try await run.expectLater(again, than: first)
            #expect(again.path == first.path)
            #expect(try await run.text("n.md") == "two")
            #expect(try await run.names() == ["n.md"])
        },
        RemoteConformanceCase("an edit of the version that was seen replaces it") { run in
            let first = try await run.put("one", "n.md")
            let again = try await run.put("two", "n.md", .parent(#require(first.rev)), .fail)
            #expect(again.path == first.path)
            #expect(try await run.text("n.md") == "two")
        },
        RemoteConformanceCase("an edit of a version that was deleted stores the file again") { run in
            let first = try await run.put("one", "n.md")
            _ = try await run.remote.delete(run.path("n.md"), ifUnchangedSince: nil)
            let again = try await run.put("two", "n.md", .parent(#require(first.rev)), .fail)
            #expect(again.path == first.path)
            #expect(try await run.text("n.md") == "two")
        },
        RemoteConformanceCase("an edit of a version that never was is refused") { run in
            try await run.put("one", "n.md")
            await run.refused(.badRequest) {
                try await run.put("two", "n.md", .parent(Revision.number(1 << 40)), .rename)
            }
            #expect(try await run.names() == ["n.md"])
            #expect(try await run.text("n.md") == "one")
        },
        RemoteConformanceCase("a file cannot be stored in a file, nor over a folder") { run in
            try await run.put("one", "file")
            try await run.put("two", "folder/inner")
            await run.refused(.forbidden) { try await run.put("x", "file/below") }
            await run.refused(.forbidden) { try await run.put("x", "folder") }
            #expect(try await run.text("file") == "one")
            #expect(try await run.names("folder") == ["inner"])
        },
    ]

    static let conflicts: [RemoteConformanceCase] = [
        RemoteConformanceCase("a second create is stored under a number") { run in
            try await run.put("one", "n.tar.md", .create)
            #expect(try await run.put("two", "n.tar.md", .create).path.name == "n.tar (1).md")
            #expect(try await run.put("three", "N.TAR.md", .create).path.name == "N.TAR (2).md")
            #expect(try await run.text("n.tar.md") == "one")
            #expect(try await run.text("n.tar (1).md") == "two")
        },
        RemoteConformanceCase("a stale edit is stored as a conflicted copy") { run in
            let base = try #require(try await run.put("base", "n.md").rev)
            try await run.put("mine", "n.md", .parent(base))
            let copy = try await run.put("theirs", "n.md", .parent(base), by: run.second)
            #expect(copy.path.name == "n (conflicted copy).md")
            #expect(try await run.put("third", "n.md", .parent(base)).path.name == "n (conflicted copy 1).md")
            #expect(try await run.text("n.md") == "mine")
            #expect(try await run.text("n (conflicted copy).md") == "theirs")
        },
        RemoteConformanceCase("with the policy to fail a conflict stores nothing") { run in
            let base = try #require(try await run.put("base", "n.md").rev)
            try await run.put("mine", "n.md", .parent(base))
            await run.refused(.conflict) { try await run.put("theirs", "n.md", .parent(base), .fail) }
            await run.refused(.conflict) { try await run.put("other", "n.md", .create, .fail) }
            #expect(try await run.names() == ["n.md"])
            #expect(try await run.text("n.md") == "mine")
        },
        RemoteConformanceCase("a create where a folder is takes another name, or fails") { run in
            try await run.put("x", "thing/inner")
            await run.refused(.conflict) { try await run.put("file", "thing", .create, .fail) }
            #expect(try await run.put("file", "thing", .create, .rename).path.name == "thing (1)")
        },
        RemoteConformanceCase("of many creates at once each is stored under a name of its own") { run in
            let names = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<12 {
                    group.addTask {
                        try await run.put(
                            "text \(number)", "n.md", .create, .rename, by: number.isMultiple(of: 2) ? run.second : nil
                        ).path.name
                    }
                }
                var names: Set<String> = []
                for try await name in group { names.insert(name) }
                return names
            }
            #expect(names.count == 12)
            var texts: Set<String> = []
            for name in names { texts.insert(try await run.text(name)) }
            #expect(texts.count == 12)
        },
    ]
}
