import ByteClubCore

/// The ways between items and their paths in trees that are kept by item.
struct TreePaths<View: TreeView> {
    let view: View

    /// Deeper than this no folder is; a chain that is longer runs in a circle.
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
            current = namesakes.first { $0.place(on: side)?.name == wanted } ?? namesakes.first
        }
        return current
    }

    /// The path of a place as a side shows it; folders that the side has not are named as the other has them.
    func path(of place: Place, on side: Side) throws -> String {
        var names = [place.name.text]
        var folder = place.parent
        while folder != .root, names.count < Self.deepest {
            guard let item = try view.item(folder),
                let place = item.place(on: side) ?? item.place(on: side.other) ?? item.synced?.place
            else { break }
            names.append(place.name.text)
            folder = place.parent
        }
        return names.reversed().joined(separator: "/")
    }

    /// The path of an item, the disk's if it is there.
    func path(of item: Item) throws -> String {
        if item.id == .root { return "" }
        if let place = item.local?.place { return try path(of: place, on: .local) }
        if let place = item.remote?.place { return try path(of: place, on: .remote) }
        return try item.synced.map { try path(of: $0.place, on: .local) } ?? ""
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
        if let place = local?.place { parents.append(place.parent) }
        if let place = remote?.place { parents.append(place.parent) }
        return parents
    }
}
