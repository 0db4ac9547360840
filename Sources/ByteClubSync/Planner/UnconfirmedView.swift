/// The trees with entries of the disk left alone that are missing there and may turn up elsewhere.
struct UnconfirmedView: TreeView {
    let base: any TreeStore
    /// The entries.
    let unconfirmed: Set<ItemID>

    func item(_ id: ItemID) throws -> Item? { try base.item(id).map(shown) }

    func children(of folder: ItemID, on side: Side) throws -> [Item] {
        shown(try base.children(of: folder, on: side))
    }

    func children(of folder: ItemID, key: String, on side: Side) throws -> [Item] {
        shown(try base.children(of: folder, key: key, on: side))
    }

    private func shown(_ items: [Item]) -> [Item] { unconfirmed.isEmpty ? items : items.map(shown) }

    private func shown(_ item: Item) -> Item {
        guard unconfirmed.contains(item.id) else { return item }
        var frozen = item
        frozen.isFrozen = true
        return frozen
    }
}
