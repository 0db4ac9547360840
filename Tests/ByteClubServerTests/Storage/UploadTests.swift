import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Uploads in pieces")
struct UploadTests {
    private static func send(
        _ store: SQLiteStore, _ id: String, at offset: Int64, _ bytes: some Collection<UInt8>
    ) async throws -> ChunkedUpload {
        let writer = try await store.appendToUpload(id, member: 1, at: offset)
        try await writer.write(Array(bytes))
        return try await writer.finish()
    }

    private static func commit(_ store: SQLiteStore, _ id: String, to path: String) async throws -> FolderEntry {
        let content = try await store.finishedUpload(id, member: 1)
        let path = try RemotePath(path)
        return try await store.write(by: 1, storing: content) {
            try $0.put(path, bytes: content.bytes, hash: content.hash, condition: .create, policy: .fail)
        }
    }

    @Test("Chunks of random sizes become the content, also when the server restarts in between")
    func assembles() async throws {
        let seed = UInt64.random(in: 0...9999)
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        let fixture = try StoreFixture()
        let bytes = randomBytes(14_000_000, seed: seed)
        var store = fixture.store
        var upload = try await store.beginUpload(member: 1)
        #expect(upload.expires.seconds == fixture.seconds.now.seconds + 48 * 3600)
        var chunks = 0
        while upload.offset < bytes.count {
            let count = min(Int.random(in: 0...5_000_000, using: &generator), bytes.count - Int(upload.offset))
            let part = bytes[Int(upload.offset)..<(Int(upload.offset) + count)]
            let expected = upload.offset + Int64(count)
            upload = try await Self.send(store, upload.uploadID, at: upload.offset, part)
            #expect(upload.offset == expected)
            chunks += 1
            if chunks == 2 || chunks == 4 {
                try store.close()
                store = try StoreFixture.open(fixture.directory.path, mode: .administration, clock: fixture.seconds)
            }
        }
        let entry = try await Self.commit(store, upload.uploadID, to: "/p.jpg")
        #expect(entry.contentHash == ContentHasher.hash(bytes))
        #expect(Fixture.bytes(at: store.files.path(of: ContentHasher.hash(bytes))) == bytes)
        #expect(fixture.staged.isEmpty)
        await #expect(throws: UploadError.alreadyCompleted) {
            try await store.finishedUpload(upload.uploadID, member: 1)
        }
        await #expect(throws: UploadError.alreadyCompleted) {
            try await Self.send(store, upload.uploadID, at: upload.offset, [1])
        }
    }

    @Test("A chunk at the wrong place is refused with the right one")
    func wrongOffset() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let upload = try await store.beginUpload(member: 1)
        let held = try await Self.send(store, upload.uploadID, at: 0, [1, 2, 3])
        do {
            _ = try await Self.send(store, upload.uploadID, at: 8, [4])
            Issue.record("the chunk was taken")
        } catch let error as UploadError {
            #expect(error == .wrongOffset(got: 8, upload: held))
            let refusal = error.refusal(committing: false)
            #expect(refusal.status == 400)
            #expect(refusal.message.contains("got [8] expected [3]"))
            #expect(refusal.upload?.offset == 3)
        }
        #expect(try await store.upload(upload.uploadID, member: 1) == held)
        await #expect(throws: UploadError.unknown) { try await store.upload(upload.uploadID, member: 2) }
        await #expect(throws: UploadError.unknown) { try await store.upload("nothing", member: 1) }
    }

    @Test("Of chunks at the same offset exactly one wins and the others are told where the upload stands")
    func oneWins() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let upload = try await store.beginUpload(member: 1)
        let results = await withTaskGroup(of: (UInt8, Result<ChunkedUpload, any Error>).self) { group in
            for number in UInt8(1)...8 {
                group.addTask {
                    let part = [UInt8](repeating: number, count: 400_000)
                    do {
                        return (number, .success(try await Self.send(store, upload.uploadID, at: 0, part)))
                    } catch {
                        return (number, .failure(error))
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let winners = results.filter { if case .success = $0.1 { true } else { false } }
        #expect(winners.count == 1)
        for case (_, .failure(let error)) in results {
            guard case UploadError.wrongOffset(got: 0, _) = error else {
                Issue.record("another error: \(error)")
                continue
            }
        }
        let entry = try await Self.commit(store, upload.uploadID, to: "/p")
        let bytes = try await fixture.bytes(entry)
        #expect(bytes == [UInt8](repeating: winners.first?.0 ?? 0, count: 400_000))
    }

    @Test("A chunk cut short, dropped or pushed aside leaves nothing, and the next one goes on at the same place")
    func cutShort() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let bytes = randomBytes(2_000_000, seed: 4)
        let upload = try await store.beginUpload(member: 1)
        _ = try await Self.send(store, upload.uploadID, at: 0, bytes[..<500_000])
        let cut = try await store.appendToUpload(upload.uploadID, member: 1, at: 500_000)
        try await cut.write(randomBytes(700_000, seed: 9))
        await cut.discard()
        do {
            let dropped = try await store.appendToUpload(upload.uploadID, member: 1, at: 500_000)
            try await dropped.write(randomBytes(600_000, seed: 9))
        }
        let stalled = try await store.appendToUpload(upload.uploadID, member: 1, at: 500_000)
        try await stalled.write(randomBytes(300_000, seed: 9))
        #expect(try await store.upload(upload.uploadID, member: 1).offset == 500_000)
        _ = try await Self.send(store, upload.uploadID, at: 500_000, bytes[500_000...])
        await #expect(throws: UploadError.self) { try await stalled.finish() }
        let entry = try await Self.commit(store, upload.uploadID, to: "/p")
        #expect(try await fixture.bytes(entry) == bytes)
    }

    @Test("A chunk that is still arriving when the upload is committed does not reach the content")
    func commitDuringChunk() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        let bytes = randomBytes(900_000, seed: 5)
        let upload = try await store.beginUpload(member: 1)
        _ = try await Self.send(store, upload.uploadID, at: 0, bytes)
        let late = try await store.appendToUpload(upload.uploadID, member: 1, at: 900_000)
        try await late.write(randomBytes(300_000, seed: 6))
        let entry = try await Self.commit(store, upload.uploadID, to: "/p")
        await #expect(throws: UploadError.alreadyCompleted) {
            try await late.write(randomBytes(300_000, seed: 6))
            _ = try await late.finish()
        }
        #expect(try await fixture.bytes(entry) == bytes)
    }

    @Test("A refused commit leaves the upload as it was, and a later one may use it")
    func refusedCommit() async throws {
        let fixture = try StoreFixture()
        try await fixture.put("/taken", [1])
        for (count, path) in [(10, "/small"), (300_000, "/large")] {
            let bytes = randomBytes(count, seed: 8)
            let upload = try await fixture.store.beginUpload(member: 1)
            _ = try await Self.send(fixture.store, upload.uploadID, at: 0, bytes.dropLast())
            await #expect(throws: APIError.self) {
                try await Self.commit(fixture.store, upload.uploadID, to: "/taken")
            }
            _ = try await Self.send(fixture.store, upload.uploadID, at: Int64(count - 1), bytes.suffix(1))
            let entry = try await Self.commit(fixture.store, upload.uploadID, to: path)
            #expect(try await fixture.bytes(entry) == bytes)
        }
        #expect(fixture.staged.isEmpty)
    }

    @Test("An upload is forgotten after 48 hours, with its file")
    func expires() async throws {
        let fixture = try StoreFixture()
        let upload = try await fixture.store.beginUpload(member: 1)
        _ = try await Self.send(fixture.store, upload.uploadID, at: 0, [1])
        fixture.seconds.advance(48 * 3600 - 1)
        #expect(try await fixture.store.upload(upload.uploadID, member: 1).offset == 1)
        fixture.seconds.advance(1)
        await #expect(throws: UploadError.unknown) {
            try await fixture.store.upload(upload.uploadID, member: 1)
        }
        let next = try await fixture.store.beginUpload(member: 1)
        #expect(fixture.staged == ["upload-" + next.uploadID])
    }
}
