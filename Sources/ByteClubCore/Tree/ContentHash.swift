/// What identifies content: Dropbox's content hash, the SHA-256 of the concatenated SHA-256s of its 4 MiB blocks.
///
/// See <https://www.dropbox.com/developers/reference/content-hash>. The hash of nothing is the SHA-256 of nothing.
public struct ContentHash: Hashable, Sendable, Encodable, CustomStringConvertible {
    /// The length of a block in bytes: 4 MiB.
    public static let blockSize = 4 << 20
    /// The length of a hash in bytes.
    public static let byteCount = 32

    /// The 32 bytes of the hash.
    public let bytes: [UInt8]

    /// Takes the 32 bytes of a hash; nil when there are more or fewer.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Reads 64 hexadecimal digits; nil when the text is anything else.
    public init?(_ hex: String) {
        guard let bytes = Hexadecimal.decode(hex) else { return nil }
        self.init(bytes: bytes)
    }

    /// The hash as 64 lower-case hexadecimal digits.
    public var description: String { Hexadecimal.encode(bytes) }

    /// Encodes the hash as hexadecimal digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension ContentHash: JSONTextReadable {
    static var jsonForm: String { "a content hash" }
}
