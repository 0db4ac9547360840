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

    /// Takes the 32 bytes of a hash; nil when there are more or fewer.
    public init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.byteCount else { return nil }
        func word(_ index: Int) -> UInt64 { unsafe bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self) }
        words = (word(0), word(1), word(2), word(3))
    }

    /// Takes the 32 bytes of a hash; nil when there are more or fewer.
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
