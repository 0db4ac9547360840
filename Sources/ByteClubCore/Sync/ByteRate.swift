/// A rate as people type it: `500k`, `2M`, `1.5MiB`, `800` (bytes a second); units are 1024-based.
public struct ByteRate: Hashable, Sendable {
    /// Bytes a second, at least 1.
    public let bytesPerSecond: Int

    /// Reads a rate; nil when the text is none.
    public init?(_ text: String) {
        var text = text.lowercased()[...]
        for ending in ["/s", "ps"] where text.hasSuffix(ending) { text = text.dropLast(ending.count) }
        if text.hasSuffix("ib") { text = text.dropLast(2) } else if text.hasSuffix("b") { text = text.dropLast() }
        var scale = 1.0
        if let unit = text.last, let power = ["k": 1, "m": 2, "g": 3][unit] {
            for _ in 0..<power { scale *= 1024 }
            text = text.dropLast()
        }
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) || $0 == 46 }), text.last != ".",
            let number = Double(text), number * scale >= 1, number * scale <= 1e15
        else { return nil }
        bytesPerSecond = Int(number * scale)
    }
}
