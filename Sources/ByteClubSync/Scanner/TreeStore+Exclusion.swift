extension TreeStore {
    /// Leaves an item out from now on, with all that is in it: it is neither there nor deleted.
    func exclude(_ id: ItemID) throws {
        guard var item = try item(id) else { return }
        if item.isFolder {
            for side in [Side.local, .remote] {
                for inner in try children(of: id, on: side) { try exclude(inner.id) }
            }
            try setSeal(nil, of: id)
        }
        (item.local, item.synced) = (nil, nil)
        (item.isExcluded, item.isFrozen) = (true, false)
        try save(item)
    }
}
