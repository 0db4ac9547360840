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
        var folders = [(from: item.id, to: twin.id)]
        while let (from, to) = folders.popLast() {
            for child in try store.children(of: from, on: .remote) {
                var moved = child
                if !child.isExcluded {
                    var left = child
                    moved = Item(try store.newItem())
                    (left.remote, left.lastNode) = (nil, nil)
                    (moved.remote, moved.lastNode, moved.isExcluded) = (child.remote, child.remote?.node, true)
                    try store.save(left)
                    if child.isFolder { folders.append((child.id, moved.id)) }
                }
                moved.remote?.place.parent = to
                try store.save(moved)
            }
        }
        return twin
    }

    /// Marks all that the server has in a folder as being in the mirror or out of it.
    func mark(below folder: ItemID, isOutside: Bool, isExcluded: Bool) throws {
        try store.visitRemote(below: folder) { child in
            var child = child
            (child.isOutside, child.isExcluded) = (isOutside, isExcluded)
            try store.save(child)
        }
    }

    /// Refuses a place that no tree has: in the entry itself, or so deep that no path leads there.
    func checkPlace(of item: Item?, in folder: ItemID, _ name: EntryName, _ walk: inout FeedWalk) throws {
        // What is new holds nothing yet; a folder that was known may hold the one that it is said to be in.
        let mayHoldFolder = item?.isFolder == true && item?.remote?.place.parent != folder
        var below: [(folder: ItemID, length: Int)] = []
        var next = folder
        var length: Int?
        for _ in 0...NameRules.maximumDepth {
            if next == item?.id {
                throw RemoteError(.protocolViolation, "the server tells of a folder that lies in itself: '\(name)'")
            }
            length = length ?? walk.lengths[next]
            if next == .root || next == .outside || length != nil && !mayHoldFolder { break }
            guard let place = try store.item(next)?.remote?.place else { break }
            if length == nil { below.append((next, 1 + place.name.text.utf8.count)) }
            next = place.parent
        }
        var sum = length ?? 0
        for (folder, length) in below.reversed() {
            sum += length
            walk.keep(length: sum, of: folder)
        }
        guard sum + 1 + name.text.utf8.count <= NameRules.maximumPathBytes else { throw Self.tooDeep(name) }
    }

    private static func tooDeep(_ name: EntryName) -> RemoteError {
        RemoteError(
            .protocolViolation,
            "the server tells of '\(name)' in folders whose path is longer than \(NameRules.maximumPathBytes) bytes")
    }

    /// A folder has moved within the mirror or come into it, and with it all that the rules do not keep out there.
    func revisit(_ folder: Item, wasHidden: Bool, _ walk: inout FeedWalk) throws {
        if wasHidden { try mark(below: folder.id, isOutside: false, isExcluded: false) }
        guard scanner.rules != ScanRules(), let key = try key(of: folder.id, &walk) else { return }
        try ExclusionPass(store: store, rules: scanner.rules).run(below: folder.id, key)
    }
}
