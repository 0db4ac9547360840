import ByteClubCore

/// The deselected folders of a mirror.
struct Selection: Sendable {
    /// The folders' keys, relative to the mirror's root.
    private(set) var keys: Set<PathKey>

    init(_ keys: Set<PathKey> = []) { self.keys = keys }

    /// Reads it from the database.
    init(_ store: some TreeStore) throws { keys = Set(try store.records(DeselectedFolder.self).map(\.key)) }

    /// Saves it in the database.
    func save(in store: some TreeStore) throws {
        try store.replace(keys.sorted { $0.string < $1.string }.map { DeselectedFolder($0) })
    }

    /// Deselects a folder, and those in it with it.
    mutating func leaveOut(_ key: PathKey) {
        if keys.contains(where: { key.isBelow($0) }) { return }
        keys = keys.filter { !$0.isBelow(key) }
        keys.insert(key)
    }

    /// Selects a folder again with those in it; false when one above it is deselected.
    mutating func takeIn(_ key: PathKey) -> Bool {
        keys = keys.filter { $0 != key && !$0.isBelow(key) }
        return !keys.contains { key.isBelow($0) }
    }
}
