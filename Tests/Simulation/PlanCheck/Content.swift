import ByteClubCore

/// One of sixty-four contents, so that a set of them is a number.
struct Content: Hashable, Sendable {
    let number: Int

    private static let hashes: [ContentHash?] = (0..<64).map { number in
        ContentHash(
            bytes: (0..<ContentHash.byteCount).map { UInt8(truncatingIfNeeded: number &* 37 &+ $0 &* (number | 1)) })
    }

    /// The number to a hash's first byte.
    private static let numbers: [Int8] = hashes.enumerated().reduce(into: Array(repeating: -1, count: 256)) {
        if let first = $1.element?.firstByte { $0[Int(first)] = Int8($1.offset) }
    }

    init(_ number: Int) { self.number = number & 63 }

    /// The content of that hash; nil for nil.
    init?(_ hash: ContentHash?) {
        guard let first = hash?.firstByte, case let number = Self.numbers[Int(first)], number >= 0 else { return nil }
        self.number = Int(number)
    }

    var hash: ContentHash? { Self.hashes[number] }
    /// The set with this content alone.
    var bit: UInt64 { 1 << UInt64(number) }
}

extension ContentHash {
    fileprivate var firstByte: UInt8 { unsafe withUnsafeBytes { unsafe $0[0] } }
}
