public import Crypto

/// Computes a ``ContentHash`` from bytes that come piece by piece, in memory that does not grow with them.
public struct ContentHasher: Sendable {
    private var outer = SHA256()
    private var block = SHA256()
    private var filled = 0

    /// Creates a hasher that has seen nothing.
    public init() {}

    /// Adds the next bytes.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty {
            let count = unsafe min(rest.count, ContentHash.blockSize - filled)
            unsafe block.update(bufferPointer: UnsafeRawBufferPointer(rebasing: rest.prefix(count)))
            filled += count
            unsafe rest = rest.dropFirst(count)
            if filled == ContentHash.blockSize { closeBlock() }
        }
    }

    /// Adds the next bytes.
    public mutating func update(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { unsafe update($0) }
    }

    /// Adds the SHA-256 of the next whole block, hashed elsewhere.
    ///
    /// Blocks are independent, so several threads may hash them and hand them in here in order.
    /// The hasher must stand at the start of a block, and only the last block may be shorter than 4 MiB.
    public mutating func append(blockDigest: SHA256.Digest) {
        precondition(filled == 0, "a block's digest comes where a block starts")
        unsafe blockDigest.withUnsafeBytes { unsafe outer.update(bufferPointer: $0) }
    }

    /// The hash of all bytes so far; more may follow.
    public func finalize() -> ContentHash {
        var copy = self
        if copy.filled > 0 { copy.closeBlock() }
        return Self.hash(copy.outer.finalize())
    }

    private static func digest(of bytes: UnsafeRawBufferPointer) -> SHA256.Digest {
        var hasher = SHA256()
        unsafe hasher.update(bufferPointer: bytes)
        return hasher.finalize()
    }

    private static func hash(_ digest: SHA256.Digest) -> ContentHash {
        guard let hash = unsafe digest.withUnsafeBytes({ unsafe ContentHash($0) }) else {
            preconditionFailure("SHA-256 has 32 bytes")
        }
        return hash
    }

    private mutating func closeBlock() {
        let digest = block.finalize()
        unsafe digest.withUnsafeBytes { unsafe outer.update(bufferPointer: $0) }
        block = SHA256()
        filled = 0
    }

    /// The hash of bytes in memory.
    public static func hash(_ bytes: [UInt8]) -> ContentHash {
        if 1...ContentHash.blockSize ~= bytes.count {
            let block = unsafe bytes.withUnsafeBytes { unsafe digest(of: $0) }
            return hash(unsafe block.withUnsafeBytes { unsafe digest(of: $0) })
        }
        var hasher = ContentHasher()
        hasher.update(bytes)
        return hasher.finalize()
    }
}

/// Computes the SHA-256 of one block of a file, for those who hash several blocks at once.
///
/// The digests go to ``ContentHasher/append(blockDigest:)`` in the order of the blocks.
public struct BlockHasher: Sendable {
    /// The SHA-256 of a block.
    public typealias Digest = SHA256.Digest

    private var hasher = SHA256()

    /// Creates a hasher that has seen nothing.
    public init() {}

    /// Adds the next bytes of the block.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        unsafe hasher.update(bufferPointer: bytes)
    }

    /// The digest of all bytes so far.
    public func finalize() -> Digest { hasher.finalize() }
}
