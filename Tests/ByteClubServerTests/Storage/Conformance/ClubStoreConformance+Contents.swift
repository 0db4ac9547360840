import ByteClubCore
import NIOCore
import TestSupport
import Testing

@testable import ByteClubServer

extension ClubStoreConformance {
    static let contents = [
        ClubStoreConformance("content of every size around the borders comes back with its hash") { run in
            for count in [0, 1, 65_535, 65_536, 65_537, 262_144, 4_194_304, 4_194_305] {
                let bytes = randomBytes(count, seed: UInt64(count))
                let entry = try await run.put("/\(count)", bytes)
                #expect(entry.contentHash == ContentHasher.hash(bytes) && entry.bytes == Int64(count))
                #expect(try await run.bytes(entry) == bytes)
                let found = try await run.store.file(entry.path, revision: nil)
                #expect(found.entry == entry)
            }
        },
        ClubStoreConformance("a large content is read in any order, and not beyond its end") { run in
            let bytes = randomBytes(300_000, seed: 1)
            let entry = try await run.put("/x", bytes)
            guard case .blob(let blob) = try await run.store.content(of: entry) else {
                Issue.record("300,000 bytes came at once")
                return
            }
            #expect(blob.length == 300_000)
            let reader = try blob.open()
            for (offset, count) in [(299_000, 1000), (0, 1), (150_000, 100_000), (300_000, 0)] {
                let part = try await reader.read(at: Int64(offset), count: count)
                #expect(Array(part.readableBytesView) == Array(bytes[offset..<(offset + count)]))
            }
            await #expect(throws: StorageError.self) { try await reader.read(at: 299_999, count: 2) }
        },
        ClubStoreConformance("equal contents are kept once, and each version has its own") { run in
            let (small, large) = (randomBytes(100, seed: 1), randomBytes(100_000, seed: 2))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<10 {
                    group.addTask {
                        try await run.put("/s\(number)", small)
                        try await run.put("/l\(number)", large)
                    }
                }
                try await group.waitForAll()
            }
            for number in 0..<10 {
                try await run.delete("/s\(number)")
                try await run.delete("/l\(number)")
            }
            let one = try await run.put("/s0", [1])
            let path = one.path
            let restored = try await run.store.write(by: 1, storing: nil) { folder in
                let first = try folder.state.versions(path.key, limit: 9).last
                return try folder.restore(path, to: JournalRevision(number: try #require(first).revision))
            }
            #expect(try await run.bytes(restored) == small)
        },
        ClubStoreConformance("a content that no version of the write has is not kept, and a discarded one cannot be") {
            run in
            let (used, spare) = (try #require(StagedContent(inline: [8])), try #require(StagedContent(inline: [9])))
            _ = try await run.store.write(by: 1, storing: [used, spare]) { folder in
                try folder.put(
                    try RemotePath("/a"), bytes: 1, hash: used.hash, condition: .create, policy: .fail)
            }
            #expect(try await run.store.collectContents() == 0)
            let writer = try await run.store.blobs.writer()
            try await writer.write(randomBytes(300_000, seed: 1))
            await writer.discard()
            await #expect(throws: StorageError.self) { try await writer.finish() }
            #expect(try await run.store.collectContents() == 0)
        },
        ClubStoreConformance("folders and deletions have no content, and a version that never was has no file") { run in
            let entry = try await run.put("/d/n", [1])
            let gone = try await run.delete("/d")
            await run.refused(.damaged) { _ = try await run.store.content(of: gone) }
            await run.refused(404) { _ = try await run.store.file(entry.path, revision: nil) }
            await run.refused(404) { _ = try await run.store.file(entry.path, revision: JournalRevision(number: 99)) }
            let old = try await run.store.file(entry.path, revision: JournalRevision(number: entry.revision))
            #expect(try await old.content.bytes() == [1])
        },
        ClubStoreConformance("what was read from photos is kept by their contents, and goes with them") { run in
            let entry = try await run.put("/p.jpg", [1])
            let hash = try #require(entry.contentHash)
            let unknown = ContentHasher.hash([2])
            let info = MediaInfo(
                taken: TakenTime(clock: APIDate(seconds: 5)), place: .init(latitude: 1.5, longitude: -2))
            try await run.store.keep([hash: info])
            #expect(try await run.store.mediaInfo(of: [hash, unknown]) == [hash: info])
            try await run.store.keep([hash: MediaInfo()])
            #expect(try await run.store.mediaInfo(of: [hash]) == [hash: MediaInfo()])
        },
    ]

    static let chunks = [
        ClubStoreConformance("chunks make a content once all of them are there, for the member who sent them") { run in
            let parts = [randomBytes(100_000, seed: 1), [7], randomBytes(100_000, seed: 1)]
            let hashes = parts.map { ContentHasher.hash($0) }
            let (chunks, blobs) = (run.store.chunks, run.store.blobs)
            #expect(try await chunks.missing(of: hashes, from: 1) == hashes)
            try await chunks.add(parts[0], hash: hashes[0], from: 1)
            #expect(try await chunks.missing(of: hashes, from: 1) == [hashes[1]])
            #expect(try await chunks.length(of: hashes, from: 1) == nil)
            #expect(try await chunks.assemble(hashes, bytes: 200_001, from: 1, in: blobs) == nil)
            try await chunks.add(parts[1], hash: hashes[1], from: 1)
            try await chunks.add(parts[1], hash: hashes[1], from: 1)
            #expect(try await chunks.length(of: hashes, from: 1) == 200_001)
            #expect(try await chunks.assemble(hashes, bytes: 200_000, from: 1, in: blobs) == nil)
            #expect(try await chunks.length(of: hashes, from: 2) == nil)
            let whole = try #require(try await chunks.assemble(hashes, bytes: 200_001, from: 1, in: blobs))
            #expect(whole.hash == ContentHasher.hash(parts.flatMap(\.self)) && whole.bytes == 200_001)
        },
        ClubStoreConformance("a chunk waits for a day after it was sent or asked for") { run in
            let hashes = (0..<2).map { ContentHasher.hash([$0]) }
            for number in 0..<2 { try await run.store.chunks.add([UInt8(number)], hash: hashes[number], from: 1) }
            run.clock.advance(WaitingTime.chunk - 10)
            #expect(try await run.store.chunks.missing(of: [hashes[1]], from: 1) == [])
            run.clock.advance(20)
            try await run.store.removeExpired()
            #expect(try await run.store.chunks.missing(of: hashes, from: 1) == [hashes[0]])
            let weight = run.store.chunks.weight(1)
            #expect(try await run.store.chunks.waitingBytes()[1] == weight)
        },
        ClubStoreConformance(
            "chunks count for the member until a write has named them", HistorySettings(clubQuota: 1 << 30)
        ) {
            run in
            let hash = ContentHasher.hash([1])
            try await run.store.chunks.add([1], hash: hash, from: 1)
            try await run.store.chunks.add([1], hash: hash, from: 2)
            await run.store.named([hash], by: 1)
            #expect(try await run.store.chunks.missing(of: [hash], from: 1) == [hash])
            #expect(try await run.store.chunks.missing(of: [hash], from: 2) == [])
            let weight = run.store.chunks.weight(1)
            #expect(try await run.store.chunks.waitingBytes().filter { $0.value > 0 } == [2: weight])
            #expect(try await run.store.chunks.waitingBytes(of: [hash, hash], from: 2) == weight)
        },
    ]

    private static let roomy = HistorySettings(clubQuota: 1_500_000, memberQuota: 1_000_000)

    static let room = [
        ClubStoreConformance("without a quota no room is kept, and all there is may be used") { run in
            #expect(try await run.store.hold(100, for: 1) == nil)
            let usage = try await run.store.usage(of: 1)
            #expect(usage.quota == nil && usage.capacity > 0)
        },
        ClubStoreConformance("a write that would bring the club or its author over a quota is undone", roomy) { run in
            try await run.put("/a", randomBytes(700_000, seed: 1))
            await run.refused(.overQuota) { try await run.put("/b", randomBytes(300_001, seed: 2)) }
            #expect(try await run.live() == ["/a"])
            #expect(try await run.store.collectContents() == 0)
            await run.refused(.overQuota) { try await run.put("/b", randomBytes(800_001, seed: 2), by: 2) }
            try await run.put("/b", randomBytes(800_000, seed: 2), by: 2)
            try await run.put("/a", [1])
            let usage = try await run.store.usage(of: 2)
            #expect(usage.used == 800_001 && usage.quota == 1_000_001 && usage.capacity <= 1_000_001)
        },
        ClubStoreConformance("what is on its way, what waits and what is live share the room", roomy) { run in
            try await run.put("/a", randomBytes(300_000, seed: 1))
            var hold = try await run.store.hold(300_000, for: 1)
            try await run.send(run.store.beginUpload(member: 1).uploadID, at: 0, randomBytes(200_000, seed: 2))
            try await run.store.chunks.add(randomBytes(100_000, seed: 3), hash: ContentHasher.hash([3]), from: 1)
            await run.refused(.overQuota) { _ = try await run.store.hold(100_001, for: 1) }
            let path = try RemotePath("/a")
            #expect(try await run.store.hold(400_000, for: 1, replacing: path, naming: []) != nil)
            #expect(hold != nil)
            hold = nil
            #expect(try await run.store.hold(100_000, for: 1) != nil)
        },
        ClubStoreConformance("what a member left lying for an hour makes room, the rest does not", roomy) { run in
            let old = try await run.store.beginUpload(member: 1).uploadID
            try await run.send(old, at: 0, randomBytes(500_000, seed: 1))
            run.clock.advance(WaitingTime.idle - 10)
            let fresh = try await run.store.beginUpload(member: 1).uploadID
            try await run.send(fresh, at: 0, randomBytes(400_000, seed: 2))
            await run.refused(.overQuota) { _ = try await run.store.hold(200_000, for: 1) }
            run.clock.advance(20)
            #expect(try await run.store.hold(200_000, for: 1) != nil)
            await #expect(throws: UploadError.unknown) { try await run.store.upload(old, member: 1) }
            #expect(try await run.store.upload(fresh, member: 1).offset == 400_000)
        },
    ]
}

extension ClubStoreRun {
    /// Sends a chunk of an upload of member 1.
    @discardableResult
    func send(_ id: String, at offset: Int64, _ bytes: [UInt8]) async throws -> ChunkedUpload {
        let writer = try await store.appendToUpload(id, member: 1, at: offset)
        try await writer.write(bytes)
        return try await writer.finish()
    }

    /// Stores a finished upload of member 1.
    func commit(_ id: String, to path: String) async throws -> FolderEntry {
        let content = try await store.finishedUpload(id, member: 1)
        let path = try RemotePath(path)
        return try await store.write(by: 1, storing: content) {
            try $0.put(path, bytes: content.bytes, hash: content.hash, condition: .create, policy: .fail)
        }
    }
}
