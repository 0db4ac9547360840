/// A part of a file, named by its content.
public struct ContentChunk: Hashable, Sendable {
    /// Where it begins, in bytes.
    public let offset: Int64
    /// Its length in bytes.
    public let size: Int
    /// The hash of its bytes.
    public let hash: ContentHash
}

/// Content-defined chunking (FastCDC) of bytes that come piece by piece: a change at the start moves no cut behind it.
///
/// It keeps at most twice the largest chunk. Source: Xia et al., FastCDC, USENIX ATC 2016: a gear hash, with a stricter
/// mask before the normal size.
public struct ContentChunker: Sendable {
    /// The least bytes of a chunk but the last: 256 KiB.
    public static let smallest = 256 << 10
    /// The size from which on a cut is likely: 1 MiB.
    public static let normal = 1 << 20
    /// The most bytes of a chunk: 4 MiB, a block of ``ContentHash``.
    public static let largest = ContentHash.blockSize
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

    /// Bytes that came; those before `start` are cut off already.
    private var bytes: [UInt8] = []
    private var start = 0
    private var offset: Int64 = 0

    /// Creates a chunker that has seen nothing.
    public init() {}

    /// Adds the next bytes.
    ///
    /// - Returns: The chunks that are certain now.
    public mutating func take(_ next: some Sequence<UInt8>) -> [ContentChunk] {
        if start >= Self.largest { (bytes, start) = (Array(bytes[start...]), 0) }
        bytes += next
        var chunks: [ContentChunk] = []
        while bytes.count - start >= Self.largest { chunks.append(cutOne()) }
        return chunks
    }

    /// The chunks of the remaining bytes, at the end of the content.
    public mutating func finish() -> [ContentChunk] {
        var chunks: [ContentChunk] = []
        while start < bytes.count { chunks.append(cutOne()) }
        return chunks
    }

    private mutating func cutOne() -> ContentChunk {
        let size = Self.cut(bytes, from: start, atMost: min(bytes.count - start, Self.largest))
        var hasher = ContentHasher()
        unsafe bytes.withUnsafeBytes { all in
            unsafe hasher.update(UnsafeRawBufferPointer(rebasing: all[start..<start + size]))
        }
        defer { (start, offset) = (start + size, offset + Int64(size)) }
        return ContentChunk(offset: offset, size: size, hash: hasher.finalize())
    }

    /// How long the chunk is that begins at a place of some bytes, of which it may take so many.
    public static func cut(_ bytes: [UInt8], from start: Int = 0, atMost count: Int) -> Int {
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
