import ByteClubCore

/// The hash of a large file, with its chunks where only what has changed is to be sent.
struct LargeContent: Sendable {
    let whole: ContentHash
    /// How many bytes were read.
    let size: Int64
    /// In order; nil when it was not cut.
    let chunks: [ContentChunk]?

    private static let pieceSize = 256 << 10
    /// How many threads hash a file that is not cut.
    private static let parallel = 2

    /// Reads a file in constant memory; `size` is its length as far as that is known.
    ///
    /// - Throws: ``FileError``, and `CancellationError` when the task is cancelled.
    static func read(
        _ file: any DiskFile, size: Int64, isCut: Bool, _ workers: (any TaskExecutor)?
    ) async throws -> LargeContent {
        try isCut ? cut(file) : await hash(file, size, workers)
    }

    private static func cut(_ file: any DiskFile) throws -> LargeContent {
        var (whole, chunker, chunks) = (ContentHasher(), ContentChunker(), [ContentChunk]())
        var piece = [UInt8](repeating: 0, count: pieceSize)
        var offset: Int64 = 0
        while true {
            try Task.checkCancellation()
            let count = try file.read(into: &piece, at: offset)
            if count == 0 { break }
            unsafe piece.withUnsafeBytes { unsafe whole.update(UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
            chunks += chunker.take(piece.prefix(count))
            offset += Int64(count)
        }
        return LargeContent(whole: whole.finalize(), size: offset, chunks: chunks + chunker.finish())
    }

    /// Hashes several blocks at once.
    private static func hash(
        _ file: any DiskFile, _ size: Int64, _ workers: (any TaskExecutor)?
    ) async throws -> LargeContent {
        let blockSize = Int64(ContentHash.blockSize)
        let blocks = Int((size + blockSize - 1) / blockSize)
        return try await withThrowingTaskGroup(of: [(block: Int, digest: BlockHasher.Digest, bytes: Int64)].self) {
            group in
            for first in 0..<min(parallel, blocks) {
                group.addTask(executorPreference: workers) {
                    var buffer = [UInt8](repeating: 0, count: pieceSize)
                    return try stride(from: first, to: blocks, by: parallel).map { block in
                        let range = Int64(block) * blockSize..<min(Int64(block + 1) * blockSize, size)
                        let (digest, bytes) = try hash(range, of: file, &buffer)
                        return (block, digest, bytes)
                    }
                }
            }
            var hashed: [(block: Int, digest: BlockHasher.Digest, bytes: Int64)] = []
            for try await some in group { hashed += some }
            var (whole, sum) = (ContentHasher(), Int64(0))
            for one in hashed.sorted(by: { $0.block < $1.block }) {
                whole.append(blockDigest: one.digest)
                sum += one.bytes
            }
            return LargeContent(whole: whole.finalize(), size: sum, chunks: nil)
        }
    }

    private static func hash(
        _ range: Range<Int64>, of file: any DiskFile, _ buffer: inout [UInt8]
    ) throws -> (digest: BlockHasher.Digest, bytes: Int64) {
        var hasher = BlockHasher()
        var offset = range.lowerBound
        while offset < range.upperBound {
            try Task.checkCancellation()
            let count = min(try file.read(into: &buffer, at: offset), Int(range.upperBound - offset))
            if count == 0 { break }
            unsafe buffer.withUnsafeBytes { unsafe hasher.update(UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
            offset += Int64(count)
        }
        return (hasher.finalize(), offset - range.lowerBound)
    }
}
