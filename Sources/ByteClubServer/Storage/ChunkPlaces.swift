import ByteClubCore
import NIOCore
import Synchronization

/// Finds chunks inside stored contents, for the few contents that were cut last: an edit of a large file names chunks
/// that the file had before and that were never sent.
///
/// These places are only hints: the bytes are hashed again with the whole that they become part of.
final class ChunkPlaces: Sendable {
    /// A part of a stored content.
    struct Place: Sendable {
        let content: ContentHash
        /// The length of the content in bytes.
        let length: Int64
        let offset: Int64
        let bytes: Int
    }

    /// Cuts a content on threads that may block.
    private final class Cutting: Sendable {
        private let chunker = Mutex(ContentChunker())

        func take(_ bytes: [UInt8]) -> [ContentChunk] { chunker.withLock { $0.take(bytes) } }
        func finish() -> [ContentChunk] { chunker.withLock { $0.finish() } }
    }

    /// How many contents are remembered, with some 200 bytes for each mebibyte of them.
    private static let mostContents = 8
    private static let pieceSize = 1 << 20
    private static let moment = Duration.milliseconds(20)

    /// The contents that were cut, the last one used at the end.
    private let contents = Mutex<[(hash: ContentHash, places: [ContentHash: Place])]>([])
    private let isCutting = Atomic(false)

    /// The place of a chunk; nil when none of the contents has it.
    func place(of chunk: ContentHash) -> Place? {
        contents.withLock { contents in contents.lazy.compactMap { $0.places[chunk] }.last }
    }

    /// The chunks, of these, that a content does not have; cuts the content unless it is cut already, one content at a
    /// time.
    ///
    /// - Throws: ``StorageError`` when the content cannot be read, and `CancellationError`.
    func missing(
        _ chunks: [ContentHash], in content: ContentHash, length: Int64, of blobs: any BlobStore
    ) async throws -> [ContentHash] {
        while isCutting.exchange(true, ordering: .acquiring) { try await Task.sleep(for: Self.moment) }
        defer { isCutting.store(false, ordering: .releasing) }
        let known = contents.withLock { contents in contents.first { $0.hash == content }?.places }
        let places: [ContentHash: Place]
        if let known { places = known } else { places = try await Self.cut(content, length, blobs) }
        contents.withLock { contents in
            contents.removeAll { $0.hash == content }
            contents.append((content, places))
            if contents.count > Self.mostContents { contents.removeFirst() }
        }
        return chunks.filter { places[$0] == nil }
    }

    private static func cut(
        _ content: ContentHash, _ length: Int64, _ blobs: any BlobStore
    ) async throws -> [ContentHash: Place] {
        let reader = try blobs.blob(content, length: length).open()
        let cutting = Cutting()
        var places: [ContentHash: Place] = [:]
        func keep(_ chunks: [ContentChunk]) {
            for chunk in chunks {
                places[chunk.hash] = Place(content: content, length: length, offset: chunk.offset, bytes: chunk.size)
            }
        }
        var offset: Int64 = 0
        while offset < length {
            try Task.checkCancellation()
            let bytes = Array(
                try await reader.read(at: offset, count: Int(min(Int64(pieceSize), length - offset))).readableBytesView)
            keep(try await ContentPipeline.onDisk { cutting.take(bytes) })
            offset += Int64(bytes.count)
        }
        keep(try await ContentPipeline.onDisk { cutting.finish() })
        return places
    }
}

extension ChunkPlaces.Place {
    /// Copies the bytes to a writer; false when they are not there any more.
    ///
    /// - Throws: What the writer throws.
    func copy(to writer: some ContentWriter, from blobs: any BlobStore) async throws -> Bool {
        guard let part = try? await blobs.blob(content, length: length).open().read(at: offset, count: bytes) else {
            return false
        }
        try await writer.write(Array(part.readableBytesView))
        return true
    }
}
