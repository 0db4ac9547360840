import ByteClubCore
import ByteClubFiles
import GRDB
import Glibc
import NIOCore
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Contents in files")
struct FileBlobStoreTests {
    @Test(
        "Content of every size around the borders comes back with its hash",
        arguments: [0, 1, 65_535, 65_536, 65_537, 262_143, 262_144, 4_194_303, 4_194_304, 4_194_305, 9_000_000])
    func roundTrip(count: Int) async throws {
        let fixture = try StoreFixture()
        let bytes = randomBytes(count, seed: UInt64(count))
        let entry = try await fixture.put("/x", bytes)
        #expect(entry.contentHash == ContentHasher.hash(bytes))
        #expect(entry.bytes == Int64(count))
        #expect(try await fixture.bytes(entry) == bytes)
        #expect(fixture.blobCount == (count > 65_536 ? 1 : 0))
        #expect(fixture.staged.isEmpty)
    }

    @Test("Equal contents are kept once, large or small")
    func keepsOnce() async throws {
        let fixture = try StoreFixture()
        let bytes = randomBytes(100_000, seed: 7)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let entry = try await fixture.put("/large\(number)", bytes)
                    #expect(try await fixture.bytes(entry) == bytes)
                    try await fixture.put("/small\(number)", [1, 2])
                }
            }
            try await group.waitForAll()
        }
        #expect(fixture.blobCount == 1)
        #expect(fixture.staged.isEmpty)
        let rows = try await fixture.store.query { try $0.firstRow("SELECT count(*) FROM content") { $0[0] as Int } }
        #expect(rows == 1)
    }

    @Test("A refused write leaves no file, neither staged nor stored")
    func refusedWrite() async throws {
        let fixture = try StoreFixture()
        try await fixture.put("/x", [1])
        await #expect(throws: APIError.self) {
            try await fixture.put("/x", randomBytes(300_000, seed: 1), .create)
        }
        #expect(fixture.blobCount == 0)
        #expect(fixture.staged.isEmpty)
    }

    @Test("A discarded or dropped writer leaves nothing")
    func discards() async throws {
        let fixture = try StoreFixture()
        do {
            let writer = try await fixture.store.blobs.writer()
            for _ in 0..<5 { try await writer.write(randomBytes(300_000, seed: 1)) }
            await writer.discard()
            await #expect(throws: StorageError.self) { try await writer.finish() }
            let dropped = try await fixture.store.blobs.writer()
            try await dropped.write(randomBytes(300_000, seed: 1))
            try await dropped.flush()
        }
        #expect(fixture.staged.isEmpty)
    }

    @Test("A file that ends too early is damaged, whatever call failed before")
    func endsEarly() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/content"
        try Descriptor(path: path, flags: O_WRONLY | O_CREAT).write([UInt8](1...5), at: 0)
        let file = try StoredFile(path: path)
        #expect(Array(try await file.read(at: 1, count: 4).readableBytesView) == [2, 3, 4, 5])
        await #expect {
            _ = try await file.read(at: 1, count: 5)
        } throws: {
            ($0 as? StorageError)?.code == .damaged
        }
    }

    @Test("A damaged file at a content's place is replaced by the true content")
    func healsDamage() async throws {
        let fixture = try StoreFixture()
        let bytes = randomBytes(100_000, seed: 3)
        let first = try await fixture.put("/x", bytes)
        let path = fixture.store.files.path(of: try #require(first.contentHash))
        try Descriptor(path: path, flags: 1).truncate(to: 5)
        let second = try await fixture.put("/y", bytes)
        #expect(try await fixture.bytes(second) == bytes)
    }
}
