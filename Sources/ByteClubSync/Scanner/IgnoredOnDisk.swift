/// The number of ignored entries in each folder on disk; ignored folders are not scanned.
struct IgnoredOnDisk: Hashable, Sendable {
    /// How many of a folder's entries are ignored.
    struct Count: Hashable, Sendable {
        let folder: ItemID
        let count: Int64
    }

    private var counts: [ItemID: Int64] = [:]

    /// Reads it from the database.
    init(_ store: some TreeStore) throws {
        counts = Dictionary(
            try store.records(Count.self).map { ($0.folder, $0.count) }, uniquingKeysWith: { $1 })
    }

    /// Saves it in the database.
    func save(in store: some TreeStore) throws {
        try store.replace(counts.sorted { $0.key < $1.key }.map { Count(folder: $0.key, count: $0.value) })
    }

    /// Notes what a listing of a folder has shown.
    mutating func note(_ count: Int, in folder: ItemID) { counts[folder] = count == 0 ? nil : Int64(count) }

    /// The folders that have some.
    var folders: Set<ItemID> { Set(counts.keys) }

    /// How many there are in the folders that are still there.
    func total(in view: some TreeView) throws -> Int {
        Int(try counts.reduce(0) { try $0 + (view.item($1.key)?.local == nil ? 0 : $1.value) })
    }
}
