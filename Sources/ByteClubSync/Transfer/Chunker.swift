import ByteClubCore

/// A part of a file, named by its content.
struct Chunk: Hashable, Sendable {
    let offset: Int64
    let size: Int
    let hash: ContentHash
}

/// A file's chunks with the hash of the whole.
struct ChunkedContent: Sendable {
    let chunks: [Chunk]
    let whole: ContentHash
    let size: Int64
}

/// Content-defined chunking (FastCDC): a change at the start of a file moves no cut behind it.
///
/// Source: Xia et al., FastCDC, USENIX ATC 2016: a gear hash, with a stricter mask before the normal size.
enum Chunker {
    static let smallest = 256 << 10
    static let normal = 1 << 20
    static let largest = 4 << 20
    /// 22 and 18 bits, spread as the paper's.
    private static let strictMask: UInt64 = 0x0003_5907_0353_0000 | 0x2
    private static let looseMask: UInt64 = 0x0000_d900_0353_0000

    /// 256 random numbers, the same on every machine, or the cuts would differ: SplitMix64 from 0.
    private static let gear: [UInt64] = {
        var state: UInt64 = 0
        return (0..<256).map { _ in
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }()

    /// Cuts a file into chunks, in constant memory.
    ///
    /// - Throws: ``FileError``, and `CancellationError` when the task is cancelled.
    static func chunks(of file: any DiskFile) throws -> ChunkedContent {
        var whole = ContentHasher()
        var chunks: [Chunk] = []
        var offset: Int64 = 0
        var piece = [UInt8](repeating: 0, count: smallest)
        // Bytes that were read; those before `start` are cut off already.
        var (bytes, start) = ([UInt8](), 0)
        var isWhole = false
        while true {
            try Task.checkCancellation()
            while !isWhole, bytes.count - start < largest {
                let count = try file.read(into: &piece, at: offset + Int64(bytes.count - start))
                if start > largest { (bytes, start) = (Array(bytes[start...]), 0) }
                bytes += piece.prefix(count)
                isWhole = count == 0
            }
            if start == bytes.count { break }
            let size = cut(bytes, from: start, atMost: min(bytes.count - start, largest))
            unsafe bytes.withUnsafeBytes { all in
                let chunk = unsafe UnsafeRawBufferPointer(rebasing: all[start..<start + size])
                var hasher = ContentHasher()
                unsafe hasher.update(chunk)
                unsafe whole.update(chunk)
                chunks.append(Chunk(offset: offset, size: size, hash: hasher.finalize()))
            }
            offset += Int64(size)
            start += size
        }
        return ChunkedContent(chunks: chunks, whole: whole.finalize(), size: offset)
    }

    /// How long the chunk is that begins at a place of some bytes, of which it may take so many.
    static func cut(_ bytes: [UInt8], from start: Int = 0, atMost count: Int) -> Int {
        if count <= smallest { return count }
        var hash: UInt64 = 0
        let middle = min(normal, count)
        var index = smallest
        while index < middle {
            hash = (hash << 1) &+ gear[Int(bytes[start + index])]
            if hash & strictMask == 0 { return index + 1 }
            index += 1
        }
        while index < count {
            hash = (hash << 1) &+ gear[Int(bytes[start + index])]
            if hash & looseMask == 0 { return index + 1 }
            index += 1
        }
        return count
    }
}
