/// The trees with the missing items frozen: those that a scan did not find and that may turn up elsewhere (invariant
/// I8).
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
