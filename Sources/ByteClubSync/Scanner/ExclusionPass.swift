import ByteClubCore

/// Brings both trees in line with rules that have changed: what they keep out now is neither there nor deleted, and what
/// they let in again is as the server has it.
///
/// All seals are forgotten, so that the next scan of everything finds what they let in on disk.
struct ExclusionPass {
    let store: any TreeStore
    let rules: ScanRules

    /// Does it all; to be called in a transaction.
    func run() throws {
        try store.setSeal(nil, of: .root)
        try visit(.root, .root, .local)
        try visit(.root, .root, .remote)
    }

    /// Does it for what the server has in a folder that has moved.
    func run(below folder: ItemID, _ key: PathKey) throws { try visit(folder, key, .remote) }

    /// How many entries that are in sync the rules would leave out; changes nothing.
    func losses() throws -> Int { try losses(.root, .root) }

    private func losses(_ folder: ItemID, _ key: PathKey) throws -> Int {
        try store.children(of: folder, on: .local).reduce(0) { count, item in
            guard let place = item.local?.place, !item.isExcluded else { return count }
            let key = key.appending(place.name.key)
            if rules.excludes(key, isFolder: item.isFolder) { return try count + syncedCount(item) }
            return try item.isFolder ? count + losses(item.id, key) : count
        }
    }

    private func syncedCount(_ item: Item) throws -> Int {
        let own = item.synced == nil ? 0 : 1
        if !item.isFolder { return own }
        return try store.children(of: item.id, on: .local).reduce(own) { try $0 + syncedCount($1) }
    }

    private func visit(_ folder: ItemID, _ key: PathKey, _ side: Side) throws {
        for var item in try store.children(of: folder, on: side) {
            let state = side == .local ? item.local?.place : item.remote?.place
            guard let place = state, !item.isOutside else { continue }
            let key = key.appending(place.name.key)
            if rules.excludes(key, isFolder: item.isFolder) {
                if !item.isExcluded { try store.editing { editor in try editor.exclude(item.id) } }
                continue
            }
            if item.isExcluded {
                item.isExcluded = false
                try store.save(item)
            }
            guard item.isFolder else { continue }
            try store.setSeal(nil, of: item.id)
            try visit(item.id, key, side)
        }
    }
}
