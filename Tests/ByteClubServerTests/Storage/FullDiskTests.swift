import ByteClubCore
import Glibc
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("A full disk", .serialized)
struct FullDiskTests {
    /// A small file system, gone when its owner is.
    private final class SmallDisk: Sendable {
        let directory: TemporaryDirectory

        init?(mebibytes: Int = 4) throws {
            directory = try TemporaryDirectory()
            let options = "size=\(mebibytes)m"
            guard unsafe mount("tmpfs", directory.path, "tmpfs", 0, options) == 0 else { return nil }
        }

        deinit { unsafe umount2(directory.path, Int32(MNT_DETACH)) }
    }

    private static func isFull(_ body: () async throws -> Void) async -> Bool {
        do {
            try await body()
            return false
        } catch let error as StorageError {
            return error.code == .full
        } catch {
            Issue.record("another error: \(error)")
            return false
        }
    }

    @Test(
        "Photos, chunks and notes are refused as 'full', nothing is half stored, and the store goes on when there is room"
    )
    func goesOn() async throws {
        guard let disk = try SmallDisk() else {
            print("skipped: a small file system cannot be mounted here (errno \(errno))")
            return
        }
        let fixture = try StoreFixture(in: disk.directory.path)
        let store = fixture.store
        let kept = try await fixture.put("/kept", randomBytes(200_000, seed: 1))

        #expect(await Self.isFull { try await fixture.put("/large", randomBytes(6_000_000, seed: 2)) })
        #expect(fixture.staged.isEmpty)
        #expect(fixture.blobCount == 1)

        let upload = try await store.beginUpload(member: 1)
        let isFull = await Self.isFull {
            let chunk = try await store.appendToUpload(upload.uploadID, member: 1, at: 0)
            try await chunk.write(randomBytes(6_000_000, seed: 2))
            _ = try await chunk.finish()
        }
        #expect(isFull)
        #expect(try await store.upload(upload.uploadID, member: 1).offset == 0)
        let again = try await store.appendToUpload(upload.uploadID, member: 1, at: 0)
        try await again.write([1, 2, 3])
        #expect(try await again.finish().offset == 3)

        var notes: [FolderEntry] = []
        var failures = 0
        for number in 0..<400 where failures < 3 {
            if await Self.isFull({
                notes.append(try await fixture.put("/n\(number)", randomBytes(30_000, seed: UInt64(number))))
            }) {
                failures += 1
            }
        }
        print("full after \(notes.count) notes")
        #expect(failures == 3)
        #expect(notes.count > 5)
        let live = try await store.read { try $0.state.descendants(.root, limit: .max) }
        #expect(Set(live.map(\.revision)) == Set(([kept] + notes).map(\.revision)))
        for note in notes { #expect(try await fixture.bytes(note).count == 30_000) }

        unsafe unlink(store.files.path(of: try #require(kept.contentHash)))
        let after = try await fixture.put("/after", [1])
        #expect(try await fixture.bytes(after) == [1])
    }

    @Test("contents that came in chunks fit as if each were there once; chunks that still wait for a write stay")
    func secondCopies() async throws {
        guard let disk = try SmallDisk(mebibytes: 32) else {
            print("skipped: a small file system cannot be mounted here (errno \(errno))")
            return
        }
        let fixture = try StoreFixture(in: disk.directory.path)
        let store = fixture.store
        let waiting = randomBytes(100_000, seed: 99)
        try await store.chunks.add(waiting, hash: ContentHasher.hash(waiting), from: 1)
        // 24 MiB may be used: 16 of contents fit, and 16 more of their chunks do not.
        for number in 0..<8 {
            let parts = (0..<2).map { randomBytes(1 << 20, seed: UInt64(2 * number + $0)) }
            let hashes = parts.map { ContentHasher.hash($0) }
            for (part, hash) in zip(parts, hashes) { try await store.chunks.add(part, hash: hash, from: 1) }
            let room = try await store.hold(2 << 20, for: 1, replacing: nil, naming: hashes)
            let content = try #require(
                try await store.chunks.assemble(hashes, bytes: 2 << 20, from: 1, in: store.blobs))
            let path = try RemotePath("/\(number).jpg")
            _ = try await store.write(by: 1, storing: content) {
                try $0.put(path, bytes: content.bytes, hash: content.hash, condition: .create, policy: .fail)
            }
            withExtendedLifetime(room) {}
            await store.named(hashes, by: 1)
        }
        #expect(try await store.chunks.missing(of: [ContentHasher.hash(waiting)], from: 1) == [])
        #expect(fixture.blobCount == 8)
    }
}
