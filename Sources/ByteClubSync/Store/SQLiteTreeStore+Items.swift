import ByteClubCore

extension SQLiteTreeStore {
    func item(_ id: ItemID) throws -> Item? {
        if !isInTransaction { try dropStaleItems() }
        if let known = cache[id] { return known }
        items.byID.bind(1, id.number)
        return try items.byID.firstItem().map(keeping)
    }

    func children(of folder: ItemID, on side: Side) throws -> [Item] {
        let statement = side == .local ? items.localChildren : items.remoteChildren
        statement.bind(1, folder.number)
        return try statement.items().map(keeping)
    }

    func children(of folder: ItemID, key: String, on side: Side) throws -> [Item] {
        let statement = side == .local ? items.localNamesakes : items.remoteNamesakes
        statement.bind(1, folder.number)
        statement.bind(2, EntryName.fold(key))
        return try statement.items().filter { $0.location(on: side)?.name.key == key }
    }

    /// The items on disk that are named like conflict copies, or nearly so; see ``ConflictName``.
    func conflictCopies() throws -> [Item] {
        let candidates = try rows(
            "SELECT id FROM item WHERE l_parent IS NOT NULL AND instr(l_name, 'conflict ') > 0"
        ) { ItemID($0.number(0)) }
        return try candidates.compactMap { try item($0) }
    }

    func newItem() throws -> ItemID {
        defer { nextItem += 1 }
        return ItemID(nextItem)
    }

    func save(_ item: Item) throws {
        if let start = unseenStart, let generation = item.remote?.generation, generation < start.generation {
            unseenStart = item.id < start.item ? nil : start
        }
        try changing { () throws(SyncError) in
            if item.isEmpty {
                try items.forget(item.id)
                cache[item.id] = nil
            } else {
                try items.save(item, known: cache[item.id])
                keep(item)
            }
        }
    }

    private func keeping(_ item: Item) -> Item {
        keep(item)
        return item
    }

    func item(node: EntryID) throws -> Item? {
        items.byNode.bind(1, ItemRow.id(node))
        return try items.byNode.firstItem().map(keeping)
    }

    func items(handle: FileHandle) throws -> [Item] {
        items.byHandle.bind(1, Int64(bitPattern: handle.low))
        items.byHandle.bind(2, Int64(bitPattern: handle.high))
        return try items.byHandle.items().map(keeping)
    }

    func unsettled(after: ItemID?, limit: Int) throws -> [Item] {
        items.unsettled.bind(1, after?.number ?? -1)
        items.unsettled.bind(2, Int64(limit))
        return try items.unsettled.items().map(keeping)
    }

    func unsettledCount() throws -> Int {
        try count("SELECT count(*) FROM item WHERE unsettled = 1")
    }

    func unseen(before generation: Int64, limit: Int) throws -> [Item] {
        // Items before the last match were seen, unless they were saved since: the search need not restart each time.
        let known = unseenStart.flatMap { $0.generation == generation ? $0.item.number : nil } ?? 1
        items.unseen.bind(1, known - 1)
        items.unseen.bind(2, generation)
        items.unseen.bind(3, Int64(limit))
        let found = try items.unseen.items()
        if let first = found.first { unseenStart = (generation, first.id) }
        return found
    }

    func synced(after: ItemID?, limit: Int) throws -> [Item] {
        items.synced.bind(1, max(0, after?.number ?? 0))
        items.synced.bind(2, Int64(limit))
        return try items.synced.items()
    }

    func syncedCount() throws -> Int {
        try count("SELECT count(*) FROM item WHERE s_parent IS NOT NULL") - 1
    }

    func excludedCount() throws -> Int {
        let (excluded, outside) = (ItemFlags.isExcluded.rawValue, ItemFlags.isOutside.rawValue)
        return try count(
            "SELECT count(*) FROM item WHERE r_parent IS NOT NULL AND flags & \(excluded | outside) = \(excluded)")
    }

    private func count(_ sql: String) throws(SyncError) -> Int {
        let statement = try prepared(sql)
        defer { statement.reset() }
        return try statement.step() ? Int(statement.number(0)) : 0
    }

    func listing(of folder: ItemID) throws -> KnownListing? {
        let statement = try prepared("SELECT value FROM seal WHERE item = ?")
        statement.bind(1, folder.number)
        defer { statement.reset() }
        return try statement.step() ? KnownListing(bytes: statement.bytes(0)) : nil
    }

    func setListing(_ listing: KnownListing?, of folder: ItemID) throws {
        try changing { () throws(SyncError) in
            let statement = try prepared(
                listing == nil ? "DELETE FROM seal WHERE item = ?" : "INSERT OR REPLACE INTO seal VALUES(?, ?)")
            statement.bind(1, folder.number)
            if let listing { statement.bind(2, listing.bytes) }
            try statement.run()
        }
    }
}

/// A known listing as a blob: both halves of the fingerprint, then each folder's item number, name length and name.
extension KnownListing {
    /// Reads ``bytes``; nil for anything else.
    init?(bytes: [UInt8]) {
        var rest = bytes[...]
        func number() -> UInt64? {
            guard rest.count >= 8 else { return nil }
            defer { rest = rest.dropFirst(8) }
            return rest.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        guard let high = number(), let low = number() else { return nil }
        var folders: [ListedFolder] = []
        while !rest.isEmpty {
            guard let item = number(), let count = number(), count <= UInt64(rest.count) else { return nil }
            let name = String(decoding: rest.prefix(Int(count)), as: UTF8.self)
            folders.append(ListedFolder(item: ItemID(Int64(bitPattern: item)), name: name))
            rest = rest.dropFirst(Int(count))
        }
        self.init(high: high, low: low, folders: folders)
    }

    /// The listing as a blob.
    var bytes: [UInt8] {
        var result: [UInt8] = []
        func add(_ number: UInt64) { unsafe withUnsafeBytes(of: number.littleEndian) { unsafe result += $0 } }
        add(high)
        add(low)
        for folder in folders {
            add(UInt64(bitPattern: folder.item.number))
            add(UInt64(folder.name.utf8.count))
            result += folder.name.utf8
        }
        return result
    }
}
