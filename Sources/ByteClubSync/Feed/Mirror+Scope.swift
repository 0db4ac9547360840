import ByteClubCore

extension Mirror {
    /// Whether a folder lies outside of the mirrored one.
    func isOutside(_ folder: ItemID, _ walk: inout FeedWalk) throws -> Bool {
        if folder == .root { return false }
        if folder == .outside { return true }
        if let known = walk.outside[folder] { return known }
        let found = try store.item(folder)?.isOutside ?? true
        walk.outside[folder] = found
        return found
    }

    /// An entry has left the mirrored folder: to the mirror it is gone, though the server still has it.
    func leaveScope(_ item: Item) throws {
        var (left, twin) = (item, Item(try store.newItem()))
        twin.remote = item.remote
        twin.isOutside = true
        twin.isExcluded = true
        for child in try store.children(of: item.id, on: .remote) {
            try leaveScope(child)
            guard let node = child.remote?.node, var moved = try store.item(node: node) else { continue }
            moved.remote?.place.parent = twin.id
            try store.save(moved)
        }
        left.remote = nil
        left.lastNode = nil
        try store.save(left)
        twin.lastNode = twin.remote?.node
        try store.save(twin)
    }

    /// An entry has come into the mirrored folder with all that is in it.
    func enterScope(_ item: Item) throws {
        var item = item
        item.isOutside = false
        item.isExcluded = false
        try store.save(item)
        for child in try store.children(of: item.id, on: .remote) { try enterScope(child) }
    }
}
