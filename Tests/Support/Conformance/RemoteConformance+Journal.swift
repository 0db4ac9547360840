import ByteClubCore
import Testing

extension RemoteConformance {
    static let journal: [RemoteConformanceCase] = [
        RemoteConformanceCase(sync: "the journal tells of folders first, in pages that join, with small contents") {
            run, sync, root in
            let folder = try await sync.done(.create(.init(.node(root), "f"), nil))
            var texts: [NodeID: String] = [:]
            for number in 0..<20 {
                texts[try await sync.create("n\(number).md", "text \(number)\n", in: folder.node).node] =
                    "text \(number)\n"
            }
            var known: Set<NodeID> = [.root]
            var cursor: String?
            var found: [NodeID: String] = [:]
            repeat {
                let changes = try await sync.remote.journal(after: cursor, limit: 7, contents: .all, wait: .zero)
                #expect(changes.page.isReset == (cursor == nil) && changes.page.entries.count <= 7)
                var contents = changes.contents[...]
                for entry in changes.page.entries {
                    if !entry.isDeleted { #expect(known.contains(entry.parent), "\(entry)") }
                    known.insert(entry.node)
                    #expect(entry.isInline == (entry.hash != nil && entry.bytes <= 64 << 10))
                    if entry.isInline {
                        found[entry.node] = contents.popFirst().map { String(decoding: $0, as: UTF8.self) }
                    }
                }
                #expect(contents.isEmpty && changes.page.hasMore == (changes.page.sequence == nil))
                cursor = changes.page.hasMore ? changes.page.cursor : nil
            } while cursor != nil
            for (node, text) in texts { #expect(found[node] == text) }
            let bare = try await sync.remote.journal(after: nil, limit: 7, contents: .none, wait: .zero)
            #expect(bare.contents.isEmpty && bare.page.entries.allSatisfy { !$0.isInline })
        },
        RemoteConformanceCase(sync: "contents that a writer has sent itself can be left out, and no others are") {
            run, sync, root in
            let cursor = try await sync.end()
            _ = try await sync.create("own.md", "own", in: root)
            _ = try await sync.create("moved.md", "moved", in: root)
            try await run.put("other's", "other.md", by: run.second)
            _ = try await sync.create("other's own.md", "again", in: root)
            try await run.put("other's again", "other's own.md", by: run.second)
            _ = try await run.second.move(run.path("moved.md"), to: run.path("moved again.md"))
            let inline = { (contents: JournalContents, cursor: String?) async throws in
                let changes = try await sync.remote.journal(after: cursor, limit: 100, contents: contents, wait: .zero)
                #expect(changes.contents.count == changes.page.entries.count(where: \.isInline))
                return changes.page.entries.filter(\.isInline).map(\.name).sorted()
            }
            let others = ["other's own.md", "other.md"]
            #expect(try await inline(.besides(writer: sync.writer), cursor) == others)
            #expect(try await inline(.besides(writer: String(sync.writer.dropLast())), cursor).count == 4)
            #expect(try await inline(.all, cursor).count == 4)
            #expect(try await inline(.besides(writer: sync.writer), nil).count >= 4, "who begins anew has nothing")
        },
        RemoteConformanceCase(sync: "later changes come alone, a move as one entry, a folder's move as one too") {
            run, sync, root in
            let folder = try await sync.done(.create(.init(.node(root), "f"), nil))
            let file = try await sync.create("a.md", "1", in: folder.node)
            let cursor = try await sync.end()
            let moved = try await sync.done(.move(folder.node, .init(.node(root), "g")))
            let page = try await sync.remote.journal(after: cursor, limit: 100, contents: .all, wait: .zero).page
            #expect(page.entries == [moved] && !page.isReset && !page.hasMore)
            _ = try await sync.done(.move(file.node, .init(.node(root), "b.md")))
            let gone = try await sync.done(.delete(folder.node))
            let next = try await sync.remote.journal(after: page.cursor, limit: 100, contents: .all, wait: .zero)
            #expect(next.page.entries.map(\.node) == [file.node, folder.node])
            #expect(next.page.entries.last == gone && next.contents == [[49]])
        },
        RemoteConformanceCase(sync: "each entry tells when its content was made, where that was said") {
            run, sync, root in
            let made = FileTime(nanoseconds: 1_525_478_400_000_000_001)
            let cursor = try await sync.end()
            var content = SyncOperation.Content(bytes: 1, hash: ContentHasher.hash([49]), modified: made)
            let file = try await sync.done(.create(.init(.node(root), "a.md"), content), "1")
            let bare = try await sync.create("b.md", "1", in: root)
            #expect(file.clientModified == made && bare.clientModified == nil)
            let page = try await sync.remote.journal(after: cursor, limit: 10, contents: .none, wait: .zero).page
            #expect(page.entries.map(\.clientModified) == [made, nil])
            content.hash = ContentHasher.hash([50])
            content.modified = FileTime(nanoseconds: 2_000_000_000)
            #expect(try await sync.done(.edit(file.node, content), "2").clientModified == content.modified)
            #expect(try await sync.done(.delete(file.node)).clientModified == nil)
        },
        RemoteConformanceCase(sync: "each entry tells whether it may be executed, where that was said") {
            run, sync, root in
            let cursor = try await sync.end()
            var content = SyncOperation.Content(bytes: 1, hash: ContentHasher.hash([49]), isExecutable: true)
            let file = try await sync.done(.create(.init(.node(root), "run.sh"), content), "1")
            let bare = try await sync.create("b.md", "1", in: root)
            #expect(file.isExecutable == true && bare.isExecutable == nil)
            content.isExecutable = nil
            #expect(try await sync.done(.edit(file.node, content), "1") == file)
            content.isExecutable = false
            let plain = try await sync.done(.edit(file.node, content), "1")
            #expect(plain.isExecutable == false && plain.revision > file.revision && plain.hash == file.hash)
            let page = try await sync.remote.journal(after: cursor, limit: 10, contents: .none, wait: .zero).page
            #expect(Set(page.entries.map(\.isExecutable)) == [nil, false])
            #expect(try await sync.done(.delete(file.node)).isExecutable == nil)
        },
        RemoteConformanceCase(sync: "each entry names the member who made its version") { run, sync, root in
            let (first, second) = (try await run.remote.account(), try await run.second.account())
            let cursor = try await sync.end()
            let made = try await sync.create("a.md", "1", in: root)
            try await run.put("2", "b.md", by: run.second)
            let page = try await sync.remote.journal(after: cursor, limit: 10, contents: .none, wait: .zero).page
            #expect(page.entries.map(\.author) == [first.uid, second.uid])
            #expect(page.entries.map(\.authorName) == [first.displayName, second.displayName])
            #expect(made.authorName == first.displayName)
        },
        RemoteConformanceCase(sync: "the history tells what each member did, the newest first") { run, sync, root in
            let history = try #require(try await run.remote.powers().history)
            let (first, second) = (try await run.remote.account(), try await run.second.account())
            let start = try await history.history(before: nil, after: nil, limit: 1, wait: .zero).sequence
            _ = try await run.remote.createFolder(run.path("f"))
            for name in ["f/a.md", "f/b.md"] { try await run.put("1", name) }
            try await run.put("2", "f/a.md", by: run.second)
            _ = try await run.second.move(run.path("f"), to: run.path("g"))
            _ = try await run.remote.move(run.path("g/a.md"), to: run.path("d.md"))
            let renamed = try await run.remote.move(run.path("d.md"), to: run.path("D.md"))
            _ = try await run.second.delete(renamed.path, ifUnchangedSince: nil)
            _ = try await run.second.restore(renamed.path, to: #require(renamed.rev))
            _ = try await run.remote.delete(run.path("g"), ifUnchangedSince: nil)
            let page = try await history.history(before: nil, after: start, limit: 100, wait: .zero)
            let base = try run.path()
            let told = page.changes.map { change in
                let paths = [change.origin, change.path].compactMap { $0?.components.dropFirst(base.components.count) }
                let names = paths.map { $0.joined(separator: "/") }.joined(separator: " ")
                return "\(change.action) \(names)\(change.isFolder ? "/" : "")"
            }
            #expect(
                told == [
                    "removed g/", "restored D.md", "removed D.md", "moved d.md D.md", "moved g/a.md d.md", "moved f g/",
                    "edited f/a.md", "added f/b.md", "added f/a.md", "added f/",
                ])
            let isFirst = [true, false, false, true, true, false, false, true, true, true]
            #expect(page.changes.map(\.author) == isFirst.map { $0 ? first.uid : second.uid })
            #expect(page.changes.map(\.authorName) == isFirst.map { $0 ? first.displayName : second.displayName })
            #expect(page.before == nil && page.changes.first.map { $0.sequence <= page.sequence } == true)
            var (pieces, before): ([HistoryChange], Int64?) = ([], nil)
            repeat {
                let piece = try await history.history(before: before, after: start, limit: 3, wait: .zero)
                #expect(piece.changes.count <= 3)
                pieces += piece.changes
                before = piece.before
            } while before != nil
            #expect(pieces == page.changes)
            async let waiting = history.history(before: nil, after: page.sequence, limit: 10, wait: .seconds(480))
            try await Task.sleep(for: .milliseconds(50))
            try await run.put("3", "late.md", by: run.second)
            #expect(try await waiting.changes.map(\.path.name) == ["late.md"])
        },
        RemoteConformanceCase(sync: "a cursor of another journal is stale, and one that is none is refused") {
            run, sync, root in
            let cursor = try await sync.end()
            let position = cursor.split(separator: ".").last ?? ""
            for stale in ["other.\(position)", cursor + "999"] {
                await run.refused(.staleCursor) {
                    try await sync.remote.journal(after: stale, limit: 10, contents: .all, wait: .zero)
                }
            }
            await run.refused(.badCursor) {
                try await sync.remote.journal(after: "nonsense", limit: 10, contents: .all, wait: .zero)
            }
        },
        RemoteConformanceCase(sync: "a wait ends with the change of another member, and with its time") {
            run, sync, root in
            let cursor = try await sync.end()
            let start = ContinuousClock.now
            async let waiting = sync.remote.journal(after: cursor, limit: 10, contents: .all, wait: .seconds(480))
            try await Task.sleep(for: .milliseconds(50))
            try await run.put("1", "a.md", by: run.second)
            let changes = try await waiting
            #expect(changes.page.entries.map(\.name) == ["a.md"] && changes.contents == [[49]])
            #expect(start.duration(to: .now) < .seconds(400), "it ended with its time")
            let idle = ContinuousClock.now
            let nothing = try await sync.remote.journal(
                after: changes.page.cursor, limit: 10, contents: .all, wait: .seconds(1))
            #expect(nothing.page.entries.isEmpty && nothing.page.cursor == changes.page.cursor)
            #expect(idle.duration(to: .now) > .milliseconds(900))
        },
        RemoteConformanceCase(sync: "digests tell equal trees, and which folder differs") { run, sync, root in
            for name in ["f", "g"] {
                try await run.put("1", name + "/a.md")
                try await run.put("2", name + "/sub/b.md")
            }
            let same = try await sync.remote.digest(of: run.path())
            #expect(same.node == root && same.folders.map(\.name) == ["f", "g"])
            #expect(same.folders[0].digest == same.folders[1].digest)
            #expect(try await sync.remote.digest(of: run.path("f")).digest == same.folders[0].digest)
            try await run.put("3", "g/sub/b.md")
            let other = try await sync.remote.digest(of: run.path())
            #expect(other.folders[0] == same.folders[0] && other.folders[1].digest != same.folders[1].digest)
            #expect(other.digest != same.digest && other.sequence > same.sequence)
            var own = TreeDigester(at: try run.path("f"))
            own.add(file: try run.path("f/a.md"), hash: ContentHasher.hash([49]))
            own.add(folder: try run.path("f/sub"))
            own.add(file: try run.path("f/sub/b.md"), hash: ContentHasher.hash([50]))
            #expect(own.finish() == other.folders[0].digest)
            await run.refused(.notFound) { try await sync.remote.digest(of: run.path("f/a.md")) }
        },
    ]

    static let chunks: [RemoteConformanceCase] = [
        RemoteConformanceCase(sync: "a large content goes up in chunks of any order, each once, and is one content") {
            run, sync, root in
            let parts = [noise(300_000, seed: 1), noise(70_000, seed: 2), noise(1, seed: 3)]
            let hashes = parts.map { ContentHasher.hash($0) }
            let whole = parts.flatMap(\.self)
            #expect(try await sync.remote.missingChunks(of: hashes) == hashes)
            let content = SyncOperation.Content(
                bytes: Int64(whole.count), hash: ContentHasher.hash(whole), chunks: hashes)
            let action = SyncOperation.Action.create(.init(.node(root), "big.bin"), content)
            #expect(try await sync.send(action).status == 424)
            for part in parts.reversed() { try await sync.remote.putChunk(part) }
            try await sync.remote.putChunk(parts[0])
            #expect(try await sync.remote.missingChunks(of: hashes).isEmpty)
            var wrong = content
            wrong.hash = hashes[0]
            #expect(try await sync.send(.create(.init(.node(root), "wrong.bin"), wrong)).status == 424)
            let made = try await sync.done(action)
            #expect(made.bytes == content.bytes && made.hash == content.hash)
            let found = try await run.remote.content(at: run.path("big.bin"), revision: nil, range: nil, limit: 1 << 20)
            #expect(found.bytes == whole)
            var small = content
            (small.bytes, small.hash, small.chunks) = (1, nil, [hashes[2]])
            #expect(try await sync.done(.edit(made.node, small)).bytes == 1)
        },
        RemoteConformanceCase(sync: "many contents go up in one request, from memory and from files, as a chunk each") {
            run, sync, root in
            guard try await run.remote.powers().bulkChunks else { return }
            let folder = try TemporaryDirectory()
            let contents = [noise(5 << 20, seed: 1), noise(70_000, seed: 2), noise(1, seed: 3)]
            try LocalFiles.write(contents[0], to: folder.path + "/a")
            let chunks = contents.enumerated().map { index, bytes in
                OutgoingChunk(
                    hash: ContentHasher.hash(bytes), bytes: Int64(bytes.count),
                    content: index == 0 ? .file(path: folder.path + "/a") : .bytes(bytes))
            }
            try await sync.remote.putChunks(chunks)
            #expect(try await sync.remote.missingChunks(of: chunks.map(\.hash)).isEmpty)
            for (index, chunk) in chunks.enumerated() {
                let content = SyncOperation.Content(bytes: chunk.bytes, hash: chunk.hash, chunks: [chunk.hash])
                let made = try await sync.done(.create(.init(.node(root), "c\(index)"), content))
                #expect(made.bytes == chunk.bytes && made.hash == chunk.hash)
                let found = try await run.remote.content(
                    at: run.path("c\(index)"), revision: nil, range: nil, limit: 8 << 20)
                #expect(found.bytes == contents[index])
            }
            let wrong = OutgoingChunk(hash: ContentHasher.hash([1]), bytes: 1, content: .bytes([2]))
            await run.refused(.badRequest) { try await sync.remote.putChunks([wrong]) }
            #expect(try await sync.remote.missingChunks(of: [wrong.hash]) == [wrong.hash])
        },
        RemoteConformanceCase(sync: "a large content goes up by itself, from memory or a file, and a batch stores it") {
            run, sync, root in
            guard try await run.remote.powers().bulkChunks else { return }
            let folder = try TemporaryDirectory()
            let contents = [noise(9 << 20, seed: 4), noise(70_000, seed: 5)]
            try LocalFiles.write(contents[0], to: folder.path + "/a")
            for (index, bytes) in contents.enumerated() {
                let name = try await sync.remote.sendUpload(
                    index == 0 ? .file(path: folder.path + "/a") : .bytes(bytes), progress: nil)
                await run.refused(.notFound) { try await run.remote.metadata(at: run.path("u\(index)")) }
                let content = SyncOperation.Content(
                    bytes: Int64(bytes.count), hash: ContentHasher.hash(bytes), upload: name)
                let operation = SyncOperation(
                    sync.nextID(), .create(.init(.node(root), "u\(index)"), content))
                let batch = SyncBatch([operation], isAllOrNothing: true)
                for _ in 0..<2 {
                    let result = try await sync.remote.apply(batch, contents: []).results.first
                    #expect(
                        result?.isDone == true && result?.entry?.hash == content.hash, "\(String(describing: result))")
                }
                let found = try await run.remote.content(
                    at: run.path("u\(index)"), revision: nil, range: nil, limit: 16 << 20)
                #expect(found.bytes == bytes)
            }
        },
        RemoteConformanceCase(sync: "the chunks of an edit are looked for in the version that it was made from") {
            run, sync, root in
            guard try await run.remote.powers().bulkChunks else { return }
            var photo = noise(6 << 20, seed: 6)
            let name = try await sync.remote.sendUpload(.bytes(photo), progress: nil)
            let whole = SyncOperation.Content(bytes: Int64(photo.count), hash: ContentHasher.hash(photo), upload: name)
            let create = SyncOperation(sync.nextID(), .create(.init(.node(root), "edited.jpg"), whole))
            let made = try await sync.remote.apply(SyncBatch([create], isAllOrNothing: true), contents: [])
            let entry = try #require(made.results.first?.entry)
            photo[3 << 20] ^= 1
            var chunker = ContentChunker()
            let chunks = chunker.take(photo) + chunker.finish()
            let base = ChunkQuestion.Base(entry.node, entry.revision)
            let missing = try await sync.remote.missingChunks(of: chunks.map(\.hash), base: base)
            #expect(missing.count == 1)
            for chunk in chunks where missing.contains(chunk.hash) {
                try await sync.remote.putChunk(Array(photo[Int(chunk.offset)..<Int(chunk.offset) + chunk.size]))
            }
            let content = SyncOperation.Content(
                bytes: Int64(photo.count), hash: ContentHasher.hash(photo), chunks: chunks.map(\.hash))
            #expect(
                try await sync.done(.edit(entry.node, content), if: .init(revision: entry.revision)).hash
                    == content.hash)
        },
    ]
}
