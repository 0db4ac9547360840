import ByteClubCore

/// Paths on disk relative to the mirror's root, without a slash at either end; names are spelled as on disk.
enum LocalPath {
    /// The path of the parent folder and the last name.
    static func split(_ path: String) -> (parent: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", path) }
        return (String(path[..<slash]), String(path[path.utf8.index(after: slash)...]))
    }

    /// The path of an entry of a folder.
    static func join(_ folder: String, _ name: String) -> String { folder.isEmpty ? name : folder + "/" + name }

    /// Whether a path is the path of a folder or below it.
    static func isWithin(_ path: String, _ folder: String) -> Bool {
        folder.isEmpty || path.utf8.elementsEqual(folder.utf8) || path.utf8.starts(with: (folder + "/").utf8)
    }

    /// The new path of a moved folder or of an entry below it.
    static func moved(_ path: String, from old: String, to new: String) -> String {
        new + String(decoding: path.utf8.dropFirst(old.utf8.count), as: UTF8.self)
    }
}

/// From items to paths.
extension TreeView {
    /// The items from below the root down to one in the local tree; nil when one of them is not on disk.
    func localChain(of id: ItemID) throws -> [(item: ItemID, state: LocalState)]? {
        var chain: [(item: ItemID, state: LocalState)] = []
        var seen: Set<ItemID> = []
        var next = id
        while next != .root {
            guard seen.insert(next).inserted, let state = try item(next)?.local else { return nil }
            chain.append((next, state))
            next = state.location.parent
        }
        return chain.reversed()
    }

    /// The path of an item on disk; nil when it or a folder above it is not there.
    func localPath(of id: ItemID) throws -> String? {
        try localChain(of: id).map { $0.map(\.state.location.name.text).joined(separator: "/") }
    }

    /// The path of a location on a side; folders that are missing on that side have their names on the other one.
    func path(of location: Location, on side: Side) throws -> String {
        var names = [location.name.text]
        var folder = location.parent
        // A longer chain of parents is a cycle.
        while folder != .root, names.count < NameRules.maximumDepth {
            guard let item = try item(folder),
                let location = item.location(on: side) ?? item.location(on: side.other) ?? item.synced?.location
            else { break }
            names.append(location.name.text)
            folder = location.parent
        }
        return names.reversed().joined(separator: "/")
    }

    /// The path of an item on a side; empty for the root, and for an item that is not on that side.
    func path(of id: ItemID, on side: Side) throws -> String {
        guard id != .root, let location = try item(id)?.location(on: side) else { return "" }
        return try path(of: location, on: side)
    }

    /// The path of an item in messages: on disk if it is there, else on the server, else the last known path.
    func shownPath(of id: ItemID) throws -> String {
        try item(id).map(shownPath(of:)) ?? ""
    }

    /// The path of an item in messages.
    func shownPath(of item: Item) throws -> String {
        if item.id == .root { return "" }
        if let location = item.local?.location { return try path(of: location, on: .local) }
        if let location = item.remote?.location { return try path(of: location, on: .remote) }
        return try item.synced.map { try path(of: $0.location, on: .local) } ?? ""
    }

    /// The item and the folders above it on either side, the nearest first, without the root.
    func lineage(of item: Item) throws -> [Item] {
        var result = [item]
        var seen: Set<ItemID> = [.root, item.id]
        var next = 0
        while next < result.count, result.count < NameRules.maximumDepth {
            let folders = [result[next].local?.location.parent, result[next].remote?.location.parent]
            for folder in folders.compactMap(\.self) where seen.insert(folder).inserted {
                if let above = try self.item(folder) { result.append(above) }
            }
            next += 1
        }
        return result
    }
}

/// From paths to items.
extension TreeView {
    /// The items at a path: the one on disk first, then the one on the server if that is another.
    func items(at path: String) throws -> [Item] {
        var found: [Item] = []
        for side in [Side.local, .remote] {
            // Of names that differ in letter case only, the one that is spelled like this.
            let item = try item(at: path, on: side) { namesakes, name in
                namesakes.first { $0.location(on: side)?.name == name } ?? namesakes.first
            }
            if let item, !found.contains(where: { $0.id == item.id }) { found.append(item) }
        }
        return found
    }

    /// The folder at a path of keys on a side; nil for the root.
    func folder(at key: PathKey, on side: Side) throws -> Item? {
        let found = try item(at: key.string, on: side) { namesakes, _ in namesakes.first(where: \.isFolder) }
        return found?.id == .root ? nil : found
    }

    /// The item at a path on a side; `choosing` selects one of the items whose names have the same key.
    func item(
        at path: String, on side: Side, choosing choice: ([Item], EntryName) -> Item?
    ) throws -> Item? {
        var current = try item(.root)
        for name in path.utf8.split(separator: UInt8(ascii: "/")) {
            guard let folder = current else { return nil }
            let wanted = EntryName(String(Substring(name)))
            current = choice(try children(of: folder.id, key: wanted.key, on: side), wanted)
        }
        return current
    }
}
