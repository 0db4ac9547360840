import ByteClubCore

/// An intent record: a content that is about to be renamed into place.
///
/// It is stored before the rename, so that recovery recognises the engine's own work whatever the server does meanwhile
/// (invariant I10).
struct PendingInstall: Hashable, Sendable {
    let item: ItemID
    let location: Location
    let hash: ContentHash
    /// The server's revision of the content; nil when it tells none.
    let revision: Revision?

    init(item: ItemID, location: Location, hash: ContentHash, revision: Revision?) {
        (self.item, self.location, self.hash, self.revision) = (item, location, hash, revision)
    }
}

/// The pending installs, as stored in the database.
struct PendingInstalls {
    private let store: any TreeStore
    private var installs: [ItemID: PendingInstall] = [:]

    init(_ store: any TreeStore) { self.store = store }

    /// Whether this process has any under way.
    var isEmpty: Bool { installs.isEmpty }

    /// Records installs before their renames.
    ///
    /// - Throws: The store's errors.
    mutating func add(_ more: [PendingInstall]) throws {
        for one in more {
            installs[one.item] = one
            try store.save(one)
        }
    }

    /// Removes the records of items whose installs are done or given up.
    ///
    /// - Throws: The store's errors.
    mutating func remove(_ items: [ItemID]) throws {
        for item in items where installs.removeValue(forKey: item) != nil {
            try store.removeRecord(PendingInstall.self, .number(item.number))
        }
    }
}
