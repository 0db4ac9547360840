import Crypto

/// A file's identity, from name_to_handle_at(2): inode and generation, never reused for another file.
///
/// Up to 16 bytes are kept as they are, the first 16 of the SHA-256 of longer ones.
struct FileHandle: Hashable, Sendable {
    var high: UInt64
    var low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Takes what name_to_handle_at(2) gave.
    init(bytes: some Collection<UInt8>) {
        let kept = bytes.count <= 16 ? Array(bytes) : Array(SHA256.hash(data: Array(bytes)).prefix(16))
        var words: (UInt64, UInt64) = (0, 0)
        for (index, byte) in kept.enumerated() {
            if index < 8 {
                words.0 |= UInt64(byte) << (8 * index)
            } else {
                words.1 |= UInt64(byte) << (8 * (index - 8))
            }
        }
        high = words.1
        low = words.0
    }
}
