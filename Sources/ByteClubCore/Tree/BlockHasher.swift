public import Crypto

/// Computes the SHA-256 of one block of a file, for those who hash several blocks at once.
///
/// The digests go to ``ContentHasher/append(blockDigest:)`` in the order of the blocks.
public struct BlockHasher: Sendable {
    /// The SHA-256 of a block.
    public typealias Digest = SHA256.Digest

    private var hasher = SHA256()

    /// Creates a hasher that has seen nothing.
    public init() {}

    /// Takes the next bytes of the block.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        unsafe hasher.update(bufferPointer: bytes)
    }

    /// The digest of all bytes so far.
    public func finalize() -> Digest { hasher.finalize() }
}
