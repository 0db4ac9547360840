import ByteClubCore

/// The identity of an entry in the mirror's database, independent of name, location and content; never reused.
struct ItemID: Hashable, Sendable, Comparable, CustomStringConvertible {
    let number: Int64

    /// The mirror's root.
    static let root = ItemID(0)
    /// The parent of the server's entries outside of the mirrored folder.
    static let outside = ItemID(-1)

    init(_ number: Int64) { self.number = number }

    var description: String { "#\(number)" }

    static func < (left: ItemID, right: ItemID) -> Bool { left.number < right.number }
}

/// The identity that a server gives an entry, as an opaque text; it stays when the entry is moved or edited.
struct EntryID: Hashable, Sendable, CustomStringConvertible {
    /// The server's text; of a journal's entry its number, in decimal digits.
    let text: String

    /// The root of a journal's tree.
    static let root = EntryID(NodeID.root)

    init(text: String) { self.text = text }

    init(_ number: Int64) { text = String(number) }

    init(_ node: NodeID) { self.init(node.number) }

    /// The number that has exactly this text; nil when none has.
    var number: Int64? { Int64(text).flatMap { String($0) == text ? $0 : nil } }

    /// The journal's entry; nil when the identity is not a journal's.
    var journalNode: NodeID? { number.map { NodeID($0) } }

    var description: String { text }

    /// Equal to the byte, as the server means it.
    static func == (left: EntryID, right: EntryID) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }
}

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
