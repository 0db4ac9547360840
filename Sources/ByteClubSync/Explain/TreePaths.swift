import ByteClubCore

/// Converts between items and paths, in trees that are stored by item.
struct TreePaths<View: TreeView> {
    let view: View

    /// The greatest depth of a path; a longer chain of parents is a cycle.
    private static var deepest: Int { NameRules.maximumDepth }

    /// The items at a path: the disk's first, then the server's when that is another.
    func items(at path: String) throws -> [Item] {
        let names = path.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
        var found: [Item] = []
        for side in [Side.local, .remote] {
            if let item = try item(at: names, on: side), !found.contains(where: { $0.id == item.id }) {
                found.append(item)
            }
        }
        return found
    }

    private func item(at names: [String], on side: Side) throws -> Item? {
        var current = try view.item(.root)
        for name in names {
            guard let folder = current else { return nil }
            let wanted = EntryName(name)
            let namesakes = try view.children(of: folder.id, key: wanted.key, on: side)
            current = namesakes.first { $0.location(on: side)?.name == wanted } ?? namesakes.first
        }
        return current
    }

    /// The path of a place as a side shows it; folders that the side has not are named as the other has them.
    func path(of location: Location, on side: Side) throws -> String {
        var names = [location.name.text]
        var folder = location.parent
        while folder != .root, names.count < Self.deepest {
            guard let item = try view.item(folder),
                let location = item.location(on: side) ?? item.location(on: side.other) ?? item.synced?.location
            else { break }
            names.append(location.name.text)
            folder = location.parent
        }
        return names.reversed().joined(separator: "/")
    }

    /// The path of an item, the disk's if it is there.
    func path(of item: Item) throws -> String {
        if item.id == .root { return "" }
        if let location = item.local?.location { return try path(of: location, on: .local) }
        if let location = item.remote?.location { return try path(of: location, on: .remote) }
        return try item.synced.map { try path(of: $0.location, on: .local) } ?? ""
    }

    /// The item and the folders above it on either side, the nearest first, without the root.
    func chain(of item: Item) throws -> [Item] {
        var result = [item]
        var seen: Set<ItemID> = [.root, item.id]
        var next = 0
        while next < result.count, result.count < Self.deepest {
            let parents = result[next].parents
            for folder in parents where seen.insert(folder).inserted {
                if let above = try view.item(folder) { result.append(above) }
            }
            next += 1
        }
        return result
    }
}

extension Item {
    /// The folders that it is in: the disk's, then the server's.
    fileprivate var parents: [ItemID] {
        var parents: [ItemID] = []
        if let location = local?.location { parents.append(location.parent) }
        if let location = remote?.location { parents.append(location.parent) }
        return parents
    }
}
