/// Paths on disk relative to the mirror's root, without a slash at either end; names are the disk's own.
enum LocalPath {
    /// The folder's path and the last name.
    static func split(_ path: String) -> (parent: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", path) }
        return (String(path[..<slash]), String(path[path.utf8.index(after: slash)...]))
    }

    /// The path of an entry of a folder.
    static func join(_ folder: String, _ name: String) -> String { folder.isEmpty ? name : folder + "/" + name }

    /// Whether a path is a folder's or below it.
    static func isWithin(_ path: String, _ folder: String) -> Bool {
        folder.isEmpty || path.utf8.elementsEqual(folder.utf8) || path.utf8.starts(with: (folder + "/").utf8)
    }

    /// The items from below the root down to one, as the disk's tree has them; nil when one of them is not on disk.
    static func chain(of item: ItemID, in tree: any TreeView) throws -> [(item: ItemID, state: LocalState)]? {
        var chain: [(item: ItemID, state: LocalState)] = []
        var seen: Set<ItemID> = []
        var next = item
        while next != .root {
            guard seen.insert(next).inserted, let state = try tree.item(next)?.local else { return nil }
            chain.append((next, state))
            next = state.location.parent
        }
        return chain.reversed()
    }

    /// The path of an item; nil when it is not on disk.
    static func path(of item: ItemID, in tree: any TreeView) throws -> String? {
        try chain(of: item, in: tree).map { $0.map(\.state.location.name.text).joined(separator: "/") }
    }

    /// The path of what is a folder's or below it after the folder was moved.
    static func moved(_ path: String, from old: String, to new: String) -> String {
        new + String(decoding: path.utf8.dropFirst(old.utf8.count), as: UTF8.self)
    }
}
