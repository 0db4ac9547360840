import ByteClubCore
import NIOCore

/// The contents that are too large for a store's rows, named by their hashes.
///
/// A writer stages a content, and the write that names it publishes it; unpublished content is removed. Published
/// content never changes. Calls that are not `async` may block: make them on threads that may.
protocol BlobStore: Sendable {
    /// Starts a new content. Content of at most ``StagedContent/inlineLimit`` bytes stays in memory.
    func writer() async throws -> any BlobWriter

    /// A content of so many bytes that was published; whether it is still there shows when it is opened.
    func blob(_ hash: ContentHash, length: Int64) -> any Blob

    /// Whether a content is there with all of its bytes.
    func has(_ hash: ContentHash, length: Int64) -> Bool

    /// Starts to publish the contents of one transaction.
    func publication() -> any BlobPublication

    /// The published contents whose hashes begin with a byte, in no order.
    func contents(beginning byte: UInt8) async throws -> [ContentHash]

    /// Removes a content, if it is there.
    func remove(_ hash: ContentHash)
}

/// The contents that one transaction publishes: they become durable together before it does, or none of them stays.
protocol BlobPublication {
    /// Gives a staged content its name, or leaves an equal one in place.
    ///
    /// - Throws: ``StorageError``; then nothing has changed.
    mutating func publish(_ blob: any StagedBlob, as hash: ContentHash, length: Int64) throws

    /// Waits until the published contents survive a crash.
    func sync() throws

    /// Removes the new names; each content is staged as before.
    mutating func undo()
}

/// A large content that is published.
protocol Blob: Sendable {
    /// The length in bytes.
    var length: Int64 { get }

    /// A file of this machine that has the bytes, for libraries that read by themselves; nil where there is none.
    var localPath: String? { get }

    /// Opens the content, so that its bytes stay there while they are read.
    ///
    /// - Throws: ``StorageError`` when they are lost.
    func open() throws -> any BlobReader
}

/// A large content that is open for reading, in any order.
protocol BlobReader: AnyObject, Sendable {
    /// Reads so many bytes from an offset.
    ///
    /// - Throws: ``StorageError`` when they cannot be read or there are fewer.
    func read(at offset: Int64, count: Int) async throws -> ByteBuffer
}

/// Takes a body as it arrives, hashes and stores it on other threads, and holds a bounded part of it in memory.
///
/// One task at a time uses a writer. Dropping it without ``BlobWriter/finish()`` discards its bytes.
protocol ContentWriter: AnyObject, Sendable {
    /// Copies bytes into the writer's buffer; when it answers true the caller calls ``flush()`` before the next bytes.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool

    /// Hands the buffer to the storage and the hash, waiting while an earlier one is still on its way.
    ///
    /// - Throws: ``StorageError`` `full` when the storage is, otherwise `io`; for a chunk also ``UploadError``.
    func flush() async throws

    /// Discards all bytes. Does nothing after the writer has finished.
    func discard() async
}

extension ContentWriter {
    /// Appends bytes, and waits for the storage when the buffer is full.
    ///
    /// - Throws: As ``flush()``.
    func write(_ bytes: [UInt8]) async throws {
        if unsafe bytes.withUnsafeBytes({ unsafe append($0) }) { try await flush() }
    }
}

/// Writes one new content.
protocol BlobWriter: ContentWriter {
    /// Hashes the rest; the content then waits for the write that stores it.
    ///
    /// - Parameter durably: Whether the bytes survive a crash when this returns; otherwise the caller syncs them, as
    ///   ``ChunkStore/keep(_:from:)`` does for many at once.
    /// - Returns: The content.
    /// - Throws: As ``ContentWriter/flush()``.
    func finish(durably: Bool) async throws -> StagedContent
}

extension BlobWriter {
    /// As ``finish(durably:)``, durably.
    func finish() async throws -> StagedContent { try await finish(durably: true) }
}

/// Writes one chunk of an upload in pieces.
protocol UploadWriter: ContentWriter {
    /// Syncs the chunk and the upload's new length; when this returns they survive a crash.
    ///
    /// - Throws: As ``ContentWriter/flush()``; ``UploadError`` `wrongOffset` when another chunk came in between.
    func finish() async throws -> ChunkedUpload
}
