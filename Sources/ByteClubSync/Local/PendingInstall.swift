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

    /// One line of the database's value.
    fileprivate var text: String { "\(item.number) \(place.parent.number) \(revision) \(hash) \(place.name.text)" }

    /// Reads a line; nil when it is none.
    fileprivate init?(_ text: Substring) {
        let parts = text.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 5, let item = Int64(parts[0]), let parent = Int64(parts[1]),
            let revision = Int64(parts[2]),
            let hash = ContentHash(String(parts[3]))
        else { return nil }
        self.init(
            item: ItemID(item), place: Place(ItemID(parent), EntryName(String(parts[4]))), hash: hash,
            revision: revision)
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
    ///
    /// A name with a line break is left out: it is scanned like any other.
    mutating func add(_ more: [PendingInstall]) throws {
        for one in more where !one.place.name.text.utf8.contains(10) { installs[one.item] = one }
        try save()
    }

    /// Forgets those of some items, which are done or will not be.
    mutating func remove(_ items: [ItemID]) throws {
        if installs.isEmpty { return }
        for item in items { installs[item] = nil }
        try save()
    }

    private func save() throws {
        let lines = installs.values.sorted { $0.item < $1.item }.map(\.text)
        try store.setMeta(.arriving, lines.isEmpty ? nil : lines.joined(separator: "\n"))
    }

    /// Those that an engine that was stopped has left.
    static func left(in store: any TreeStore) throws -> [PendingInstall] {
        (try store.meta(.arriving) ?? "").split(separator: "\n").compactMap { PendingInstall($0) }
    }
}
