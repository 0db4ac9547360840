/// A rate as people type it: `500k`, `2M`, `1.5MiB`, `800` (bytes a second); units are 1024-based.
public struct ByteRate: Hashable, Sendable {
    /// Bytes a second, at least 1.
    public let bytesPerSecond: Int

    /// Reads a rate; nil when the text is none.
    public init?(_ text: String) {
        var text = text.lowercased()[...]
        for ending in ["/s", "ps"] where text.hasSuffix(ending) { text = text.dropLast(ending.count) }
        guard let bytes = HumanSize.read(String(text)) else { return nil }
        bytesPerSecond = Int(bytes)
    }
}
