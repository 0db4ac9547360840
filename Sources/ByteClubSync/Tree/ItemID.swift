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
