import ByteClubCore

/// The names on disk of entries that cannot be synced, such as links: nothing is put there until a scan finds them gone.
struct BlockedNames {
    private let store: any TreeStore
    /// The items of the scans' problems, by the bytes of their paths: a disk tells names apart that are equal as texts.
    private let owners: [[UInt8]: ItemID?]

    init(_ store: any TreeStore) throws {
        self.store = store
        owners = Dictionary(
            try store.problems().filter(\.isFromScan).map { (Array($0.path.utf8), $0.item) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Leaves out the operations that would put something in a blocked place, or in a folder that is not made therefore.
    func allowed(of batches: [[PlannedOperation]]) throws -> [[PlannedOperation]] {
        if owners.isEmpty { return batches }
        var missing: Set<ItemID> = []
        return try batches.map { batch in
            try batch.filter { operation in
                guard let place = operation.place else { return true }
                if !missing.contains(place.parent), try !blocks(place, for: operation.item) { return true }
                if case .makeFolder(let id, _) = operation { missing.insert(id) }
                return false
            }
        }
    }

    /// Whether another entry than the item's, which cannot be synced, has a place.
    func blocks(_ place: Location, for item: ItemID) throws -> Bool {
        if owners.isEmpty { return false }
        let path = LocalPath.join(try store.shownPath(of: place.parent), place.name.text)
        return owners[Array(path.utf8)].map { $0 != item } ?? false
    }
}
