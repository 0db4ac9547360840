import ByteClubCore
import NIOCore
import Synchronization

@testable import ByteClubServer

/// Large contents in memory.
final class MemoryBlobStore: BlobStore {
    private let published = Mutex<[ContentHash: MemoryBlob]>([:])

    func writer() async throws -> any BlobWriter { MemoryBlobWriter() }

    func blob(_ hash: ContentHash, length: Int64) -> any Blob { Reference(store: self, hash: hash, length: length) }

    func has(_ hash: ContentHash, length: Int64) -> Bool { find(hash)?.length == length }

    func publication() -> any BlobPublication { Publication(store: self) }

    func contents(beginning byte: UInt8) async throws -> [ContentHash] {
        published.withLock { $0.keys.filter { $0.bytes.first == byte } }
    }

    func remove(_ hash: ContentHash) { published.withLock { $0[hash] = nil } }

    /// Content that waits: by itself when it is small.
    static func staged(_ bytes: [UInt8], from upload: UploadIdentity? = nil) -> StagedContent {
        let isSmall = bytes.count <= StagedContent.inlineLimit
        return StagedContent(
            bytes: Int64(bytes.count), hash: ContentHasher.hash(bytes),
            place: isSmall ? .inline(bytes) : .blob(MemoryBlob(bytes)), upload: upload)
    }

    private func find(_ hash: ContentHash) -> MemoryBlob? { published.withLock { $0[hash] } }

    /// A content by its name.
    private struct Reference: Blob {
        let store: MemoryBlobStore
        let hash: ContentHash
        let length: Int64

        var localPath: String? { nil }

        func open() throws -> any BlobReader {
            guard let blob = store.find(hash) else { throw StorageError(.io, "the content \(hash) is missing") }
            return blob
        }
    }

    /// The contents of one transaction.
    private struct Publication: BlobPublication {
        let store: MemoryBlobStore
        var names: [ContentHash] = []

        mutating func publish(_ blob: any StagedBlob, as hash: ContentHash, length: Int64) throws {
            guard let blob = blob as? MemoryBlob else {
                throw StorageError(.io, "a content was staged by another store than the one that is to keep it")
            }
            let isNew = store.published.withLock { published in
                if published[hash] != nil { return false }
                published[hash] = blob
                return true
            }
            if isNew { names.append(hash) }
        }

        func sync() throws {}

        mutating func undo() {
            for hash in names { store.remove(hash) }
            names = []
        }
    }
}

/// A large content's bytes.
final class MemoryBlob: StagedBlob, BlobReader {
    private let bytes: [UInt8]

    /// Keeps bytes.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// How many there are.
    var length: Int64 { Int64(bytes.count) }

    func read(at offset: Int64, count: Int) async throws -> ByteBuffer {
        guard offset >= 0, count >= 0, offset + Int64(count) <= length else {
            throw StorageError(.damaged, "a content has fewer bytes than are read")
        }
        return ByteBuffer(bytes: bytes[Int(offset)..<(Int(offset) + count)])
    }
}

/// Collects the bytes of a content or of a chunk.
final class MemoryBuffer: Sendable {
    private let bytes = Mutex<[UInt8]?>([])

    /// Adds bytes; once they were taken or discarded, nothing.
    func append(_ more: UnsafeRawBufferPointer) { bytes.withLock { unsafe $0?.append(contentsOf: more) } }

    /// Takes the bytes, once.
    ///
    /// - Throws: ``StorageError`` `closed` when there are none any more.
    func take() throws -> [UInt8] {
        let taken = bytes.withLock { bytes in
            defer { bytes = nil }
            return bytes
        }
        guard let taken else { throw StorageError(.closed, "the content was discarded") }
        return taken
    }
}

/// Writes one content to memory.
private final class MemoryBlobWriter: BlobWriter {
    private let buffer = MemoryBuffer()

    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        unsafe buffer.append(bytes)
        return false
    }

    func flush() async throws {}

    func discard() async { _ = try? buffer.take() }

    func finish(durably: Bool) async throws -> StagedContent { MemoryBlobStore.staged(try buffer.take()) }
}

/// Writes one chunk at the end of an upload.
final class MemoryUploadWriter: UploadWriter {
    private let store: MemoryStore
    private let upload: UploadIdentity
    private let number: Int
    private let buffer = MemoryBuffer()

    /// Writes as the holder with a number.
    init(store: MemoryStore, upload: UploadIdentity, number: Int) {
        self.store = store
        self.upload = upload
        self.number = number
    }

    deinit { store.release(upload, heldBy: number) }

    /// Asks for a flush each time, so that a chunk that was cut off learns of it.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        unsafe buffer.append(bytes)
        return true
    }

    func flush() async throws { try store.check(upload, heldBy: number) }

    func discard() async {
        _ = try? buffer.take()
        store.release(upload, heldBy: number)
    }

    func finish() async throws -> ChunkedUpload {
        try store.advance(upload, heldBy: number, with: try buffer.take())
    }
}
