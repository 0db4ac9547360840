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

    /// An item whose entry has come to a place, inside of the mirror or out of it: another one when it has left.
    ///
    /// What is outside of the mirrored folder, or kept out by the rules or by choice, is not in the mirror.
    func rescoped(_ item: Item, to remote: RemoteState, isOutside: Bool, _ walk: inout FeedWalk) throws -> Item {
        var item = item
        let isNew = item.isEmpty
        if item.isFolder, !isNew { walk.forgetPlaces() }
        let isHidden = try isOutside || isExcluded(remote.place, remote.isFolder, &walk)
        if isHidden, !item.isExcluded, !isNew { item = try leaveScope(item) }
        if isHidden, item.isOutside != isOutside { try mark(below: item.id, isOutside: isOutside, isExcluded: true) }
        (item.isExcluded, item.isOutside) = (isHidden, isOutside)
        return item
    }

    /// An entry has left the mirror: to that it is gone, though the server still has it.
    ///
    /// - Returns: The item that stands for the entry from now on.
    private func leaveScope(_ item: Item) throws -> Item {
        var (left, twin) = (item, Item(try store.newItem()))
        (left.remote, left.lastNode) = (nil, nil)
        (twin.remote, twin.lastNode, twin.isExcluded) = (item.remote, item.remote?.node, true)
        try store.save(left)
        try store.save(twin)
        for child in try store.children(of: item.id, on: .remote) {
            var moved = child.isExcluded ? child : try leaveScope(child)
            moved.remote?.place.parent = twin.id
            try store.save(moved)
        }
        return twin
    }

    /// Marks all that the server has in a folder as being in the mirror or out of it.
    func mark(below folder: ItemID, isOutside: Bool, isExcluded: Bool) throws {
        for var child in try store.children(of: folder, on: .remote) {
            (child.isOutside, child.isExcluded) = (isOutside, isExcluded)
            try store.save(child)
            try mark(below: child.id, isOutside: isOutside, isExcluded: isExcluded)
        }
    }

    /// A folder has moved within the mirror or come into it, and with it all that the rules do not keep out there.
    func revisit(_ folder: Item, wasHidden: Bool, _ walk: inout FeedWalk) throws {
        if wasHidden { try mark(below: folder.id, isOutside: false, isExcluded: false) }
        guard scanner.rules != ScanRules(), let key = try key(of: folder.id, &walk) else { return }
        try ExclusionPass(store: store, rules: scanner.rules).run(below: folder.id, key)
    }
}
