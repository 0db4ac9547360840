import ByteClubCore

/// Takes a body as it arrives, hashes and stores it on other threads, and holds a bounded part of it in memory.
///
/// One task at a time uses a writer. Dropping it without ``BlobWriter/finish()`` discards what it took.
protocol ContentWriter: AnyObject, Sendable {
    /// Copies bytes into the writer's buffer; when it answers true the caller calls ``flush()`` before the next bytes.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool

    /// Hands the buffer to the storage and the hash, waiting while an earlier one is still on its way.
    ///
    /// - Throws: ``StorageError`` `full` when the storage is, otherwise `io`; for a chunk also ``UploadError``.
    func flush() async throws

    /// Forgets all that was taken; nothing of it stays. Does nothing after the writer has finished.
    func discard() async
}

extension ContentWriter {
    /// Takes the next bytes, and waits for the storage when enough have come together.
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
    /// - Parameter durably: Whether the bytes survive a crash when this returns; otherwise whoever takes the content syncs
    ///   it, as ``ChunkStore/keep(_:from:)`` does for many at once.
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
