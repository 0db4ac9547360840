/// What an entry is called whatever becomes of its content, its name and its place.
///
/// It is the number of the change that made the entry, so it is never used again. The root is 0.
public struct NodeID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number of the change.
    public let number: Int64

    /// The root, which was never made.
    public static let root = NodeID(0)

    /// The entry that a change made.
    public init(_ number: Int64) {
        self.number = number
    }

    /// The number in decimal digits.
    public var description: String { String(number) }

    /// Orders by age.
    public static func < (left: NodeID, right: NodeID) -> Bool { left.number < right.number }
}

extension NodeID: JSONReadable {
    /// Reads a whole number.
    public init(json: inout JSONReader) throws(JSONError) { self.init(try json.integer()) }
}
