import ByteClubCore
import Crypto

/// Hashes bytes in blocks of 4 MiB, and keeps the digests of whole blocks until they are taken.
struct BlockDigests: Sendable {
    /// The digests of the whole blocks since the last ``takeDigests()``, 32 bytes each.
    private var digests: [UInt8] = []
    private var block = SHA256()
    private var filled = 0

    /// Starts at the start of a block.
    init() {}

    /// The bytes of the unfinished block.
    var tail: Int { filled }

    /// Takes the next bytes.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty {
            let count = unsafe min(rest.count, ContentHash.blockSize - filled)
            unsafe block.update(bufferPointer: UnsafeRawBufferPointer(rebasing: rest.prefix(count)))
            filled += count
            unsafe rest = rest.dropFirst(count)
            if filled == ContentHash.blockSize {
                digests += Array(block.finalize())
                block = SHA256()
                filled = 0
            }
        }
    }

    /// Hands over the digests of the whole blocks.
    mutating func takeDigests() -> [UInt8] {
        defer { digests = [] }
        return digests
    }

    /// The hash of content whose earlier blocks have these digests, and whose rest was hashed here.
    func contentHash(after earlier: [UInt8] = []) throws(StorageError) -> ContentHash {
        var outer = SHA256()
        outer.update(data: earlier)
        outer.update(data: digests)
        if filled > 0 { outer.update(data: Array(block.finalize())) }
        guard let hash = unsafe outer.finalize().withUnsafeBytes({ unsafe ContentHash($0) }) else {
            throw StorageError(.damaged, "a hash has another length than a hash has")
        }
        return hash
    }
}
