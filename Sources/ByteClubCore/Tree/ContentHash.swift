/// What identifies content: Dropbox's content hash, the SHA-256 of the concatenated SHA-256s of its 4 MiB blocks.
///
/// See <https://www.dropbox.com/developers/reference/content-hash>. The hash of nothing is the SHA-256 of nothing.
public struct ContentHash: Hashable, Sendable, Encodable, CustomStringConvertible {
    /// The length of a block in bytes: 4 MiB.
    public static let blockSize = 4 << 20
    /// The length of a hash in bytes.
    public static let byteCount = 32

    // In memory the words are the bytes of the hash in their order.
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// Creates a hash from 32 bytes; nil for more or fewer.
    public init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.byteCount else { return nil }
        func word(_ index: Int) -> UInt64 { unsafe bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self) }
        words = (word(0), word(1), word(2), word(3))
    }

    /// Creates a hash from 32 bytes; nil for more or fewer.
    public init?(bytes: [UInt8]) {
        guard let hash = unsafe bytes.withUnsafeBytes({ unsafe Self($0) }) else { return nil }
        self = hash
    }

    /// The 32 bytes of the hash.
    public var bytes: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }

    /// Calls a closure with the 32 bytes of the hash, which are there only until it returns.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe Swift.withUnsafeBytes(of: words, body)
    }

    /// Reads 64 hexadecimal digits; nil when the text is anything else.
    public init?(_ hex: String) {
        guard let bytes = Hexadecimal.decode(hex) else { return nil }
        self.init(bytes: bytes)
    }

    /// The hash as 64 lower-case hexadecimal digits.
    public var description: String { unsafe withUnsafeBytes { unsafe Hexadecimal.encode($0) } }

    /// Whether two hashes are the same.
    public static func == (left: ContentHash, right: ContentHash) -> Bool { left.words == right.words }

    /// Adds the hash to a hasher.
    public func hash(into hasher: inout Hasher) {
        unsafe withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }

    /// Encodes the hash as hexadecimal digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension ContentHash: JSONTextReadable {
    static var jsonForm: String { "a content hash" }
}

/// Bytes as lower-case hexadecimal digits and back.
public enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Writes two lower-case digits for each byte.
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads digits of either case; nil when their number is odd or one is no digit.
    public static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for digit in text.utf8 {
            guard let value = value(digit) else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? bytes : nil
    }

    /// Whether a byte is a digit of either case.
    public static func isDigit(_ byte: UInt8) -> Bool { value(byte) != nil }

    /// The value of a digit of either case; nil when it is none.
    package static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
