/// The sides of which the mirror's database keeps a tree.
enum Side: Int, Hashable, Sendable {
    case local
    case remote

    /// The other side.
    var other: Side { self == .local ? .remote : .local }
}

/// Read access to the trees, for the planner.
protocol TreeView {
    /// The item; nil when there is none. The root is there on both sides.
    func item(_ id: ItemID) throws -> Item?

    /// The items in a folder as a side shows it, in the order of their identities.
    func children(of folder: ItemID, on side: Side) throws -> [Item]

    /// The items under one key in a folder as a side shows it; a disk may have several.
    func children(of folder: ItemID, key: String, on side: Side) throws -> [Item]
}
