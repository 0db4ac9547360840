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

    /// Leaves out the operations that would put something in a blocked place, in a folder that is not made therefore, or
    /// where an entry stays because its own new place is blocked.
    func allowed(of batches: [[PlannedOperation]]) throws -> [[PlannedOperation]] {
        if owners.isEmpty { return batches }
        var missing: Set<ItemID> = []
        var kept: [ItemID: [Location]] = [:]
        return try batches.map { batch in
            try batch.filter { operation in
                guard case .disk(let id, let action) = operation, let place = action.place else { return true }
                let stays = try store.item(id)?.local?.location == place
                let isFree =
                    try !missing.contains(place.parent) && !blocks(place, for: id)
                    && (stays || kept[place.parent]?.contains { $0.isSameKey(as: place) } != true)
                if isFree { return true }
                switch action {
                case .makeFolder: missing.insert(id)
                case .move:
                    if let location = try store.item(id)?.local?.location {
                        kept[location.parent, default: []].append(location)
                    }
                case .download, .trash, .resolveContent: break
                }
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
