/// A set of items of which most are close together, at one bit each.
struct ItemNumbers: Sendable {
    private var words: [UInt64] = []

    /// Adds an item; false when it is there already.
    @discardableResult
    mutating func insert(_ id: ItemID) -> Bool {
        guard id.number >= 0 else { return false }
        let word = Int(id.number / 64)
        let bit: UInt64 = 1 << UInt64(id.number % 64)
        if word >= words.count { words += Array(repeating: 0, count: max(word + 1 - words.count, words.count)) }
        defer { words[word] |= bit }
        return words[word] & bit == 0
    }

    /// Whether an item is there.
    func contains(_ id: ItemID) -> Bool {
        let word = Int(id.number / 64)
        return words.indices.contains(word) && words[word] & 1 << UInt64(id.number % 64) != 0
    }
}
