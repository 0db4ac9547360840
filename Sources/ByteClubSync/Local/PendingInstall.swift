import ByteClubCore

/// Content that is about to get its name: told to the database before, so that an engine that was stopped in between
/// knows its own work again, whatever the server does meanwhile.
struct PendingInstall: Hashable, Sendable {
    let item: ItemID
    let place: Place
    let hash: ContentHash
    /// The server's revision of the content.
    let revision: Int64

    init(item: ItemID, place: Place, hash: ContentHash, revision: Int64) {
        (self.item, self.place, self.hash, self.revision) = (item, place, hash, revision)
    }
}

/// The installs that are under way, as the database has them.
struct PendingInstalls {
    private let store: any TreeStore
    private var installs: [ItemID: PendingInstall] = [:]

    init(_ store: any TreeStore) { self.store = store }

    /// Whether this process has any under way.
    var isEmpty: Bool { installs.isEmpty }

    /// Records what is about to get its name.
    mutating func add(_ more: [PendingInstall]) throws {
        for one in more {
            installs[one.item] = one
            try store.save(one)
        }
    }

    /// Forgets those of some items, which are done or will not be.
    mutating func remove(_ items: [ItemID]) throws {
        for item in items where installs.removeValue(forKey: item) != nil {
            try store.removeRecord(PendingInstall.self, .number(item.number))
        }
    }
}
