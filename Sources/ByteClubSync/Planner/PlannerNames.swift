import ByteClubCore

/// The names on disk of entries that cannot be synced, such as links: nothing is put there until a scan no longer finds
/// them.
struct BlockedNames {
    private let store: any TreeStore
    /// The items of the scans' problems, by the bytes of their paths: a disk distinguishes names that are equal as
    /// texts.
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

/// What the planner is given to name conflict copies: of the two sides of a conflict it is always the disk's that loses
/// the name.
struct ConflictNaming: Sendable {
    /// The member whose mirror it is; nil when the name is not known.
    var author: String?
    /// How many seconds this machine's clocks are ahead of Greenwich at a time in seconds since 1970.
    var offset: @Sendable (Int64) -> Int64 = { _ in 0 }

    /// The author and the time of the disk's version; only the time, unless it was made here.
    func stamp(_ stat: FileStat?, isOwn: Bool = true) -> ConflictStamp {
        let seconds = (stat?.fingerprint.modified ?? 0) / 1_000_000_000
        return ConflictStamp(author: isOwn ? author : nil, time: seconds, offset: offset(seconds))
    }
}

extension ConflictNaming {
    /// Names copies of the mirror of a member, in this machine's time zone.
    init(of member: String?) { self.init(author: member, offset: WallClock.offset) }
}

/// Temporary names that break cycles: of entries that exchange their names, one is parked under such a name first.
///
/// Such a name is a function of the item, so that it is recognised as one that no user chose.
enum TemporaryName {
    /// `name (moving 12).ext`; with a number from 2 if that exists.
    static func name(for name: String, of item: ItemID, number: Int = 1) -> String {
        NumberedName.tagged(name, number == 1 ? "(moving \(item.number))" : "(moving \(item.number) \(number))")
    }

    /// Whether this is a temporary name of an item.
    static func isName(_ name: EntryName, of item: ItemID) -> Bool {
        guard name.text.utf8.last == UInt8(ascii: ")") || name.text.utf8.contains(UInt8(ascii: "(")) else {
            return false
        }
        let stem = NumberedName.split(name.text).stem
        let tag = " (moving \(item.number)"
        if stem.hasSuffix(tag + ")") { return true }
        guard stem.hasSuffix(")"), let space = stem.lastIndex(of: " ") else { return false }
        return stem[..<space].hasSuffix(tag)
            && stem[space...].dropFirst().dropLast().utf8.allSatisfy { (48...57).contains($0) }
    }
}
