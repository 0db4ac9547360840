/// Computes a listing fingerprint: 128 bits, independent of the order of the entries.
///
/// Each entry is hashed by itself and the hashes are added with wrap-around; two different listings collide with a
/// probability of 2^-128.
struct ListingHasher {
    private(set) var high: UInt64 = 0
    private(set) var low: UInt64 = 0

    /// Adds a file, or anything that is no folder.
    ///
    /// `kind` is a number for what it is.
    mutating func add(
        _ name: UnsafeRawBufferPointer, kind: UInt32, inode: UInt64, size: Int64, modified: Int64, changed: Int64
    ) {
        var mix = unsafe Mix(name, kind: kind)
        mix.take(inode)
        mix.take(UInt64(bitPattern: size))
        mix.take(UInt64(bitPattern: modified))
        mix.take(UInt64(bitPattern: changed))
        add(mix)
    }

    /// Adds a folder, by its identity alone.
    ///
    /// `born` is its birth time in nanoseconds since 1970, or 0.
    mutating func addFolder(_ name: UnsafeRawBufferPointer, kind: UInt32, inode: UInt64, born: Int64) {
        var mix = unsafe Mix(name, kind: kind)
        mix.take(inode)
        mix.take(UInt64(bitPattern: born))
        add(mix)
    }

    private mutating func add(_ mix: Mix) {
        let (first, second) = mix.result
        high &+= first
        low &+= second
    }

    /// Two independent lanes of a multiplicative mix over 64-bit words.
    private struct Mix {
        private var first: UInt64
        private var second: UInt64

        init(_ name: UnsafeRawBufferPointer, kind: UInt32) {
            first = 0x9E37_79B9_7F4A_7C15
            second = 0xD1B5_4A32_D192_ED03
            take(UInt64(kind) << 32 | UInt64(truncatingIfNeeded: name.count))
            var offset = 0
            while offset + 8 <= name.count {
                unsafe take(name.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                offset += 8
            }
            var rest: UInt64 = 0
            while offset < name.count {
                unsafe rest = rest << 8 | UInt64(name[offset])
                offset += 1
            }
            take(rest)
        }

        mutating func take(_ word: UInt64) {
            first = Self.fold(first ^ word, 0xA076_1D64_78BD_642F)
            second = Self.fold(second &+ word, 0xE703_7ED1_A0B4_28DB) ^ word
        }

        /// The lanes after a final scramble, so that sums of them reveal nothing of single words.
        var result: (UInt64, UInt64) { (Self.scramble(first), Self.scramble(second)) }

        private static func fold(_ value: UInt64, _ factor: UInt64) -> UInt64 {
            let product = value.multipliedFullWidth(by: factor)
            return product.high ^ product.low ^ value
        }

        private static func scramble(_ value: UInt64) -> UInt64 {
            var value = value
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }
}
