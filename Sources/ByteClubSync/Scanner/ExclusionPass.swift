import ByteClubCore

/// Applies changed rules to both trees: newly excluded entries are neither present nor deleted, and entries that are
/// included again are as the server has them.
///
/// All known listings are dropped, so that the next full scan finds what is included again on disk.
struct ExclusionPass {
    let store: any TreeStore
    let rules: ScanRules

    /// Applies the rules to all entries; to be called in a transaction.
    func run() throws {
        try store.setListing(nil, of: .root)
        try visit(.root, .root, .local)
        try visit(.root, .root, .remote)
    }

    /// Applies the rules to the server's entries in a folder that has moved.
    func run(below folder: ItemID, _ key: PathKey) throws { try visit(folder, key, .remote) }

    /// How many synced entries the rules would exclude; changes nothing.
    func losses() throws -> Int { try losses(.root, .root) }

    private func losses(_ folder: ItemID, _ key: PathKey) throws -> Int {
        try store.children(of: folder, on: .local).reduce(0) { count, item in
            guard let location = item.local?.location, !item.isExcluded else { return count }
            let key = key.appending(location.name.key)
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
        for item in try store.children(of: folder, on: side) {
            let state = side == .local ? item.local?.location : item.remote?.location
            guard let location = state, !item.isOutside else { continue }
            let key = key.appending(location.name.key)
            if rules.excludes(key, isFolder: item.isFolder) {
                if !item.isExcluded { try store.editing { editor in try editor.exclude(item.id) } }
                continue
            }
            if item.isExcluded { try store.editing { editor in try editor.include(item) } }
            guard item.isFolder else { continue }
            try store.setListing(nil, of: item.id)
            try visit(item.id, key, side)
        }
    }
}
