import ByteClubCore

/// The store of a mirror's three trees, and of whatever else must survive the process.
///
/// One engine at a time uses a store, from one thread at a time. `StoreConformance` in the tests specifies each call;
/// the SQLite store and the one in memory both pass it.
///
/// - Throws: Each call may throw the store's errors, for SQLite ``SyncError`` with the code `database`; a transaction
///   that throws has changed nothing.
protocol TreeStore: TreeView, AnyObject {
    /// Runs several changes as one transaction; with `durably` it returns only when they are on disk. Transactions do
    /// not nest.
    func transaction<Result>(durably: Bool, _ body: () throws -> Result) throws -> Result

    /// Runs many reads; changes by other connections are checked for only once, at its start, and seen afterwards at
    /// the latest.
    func reading<Result>(_ body: () throws -> Result) throws -> Result

    /// Releases caches.
    func rest() throws

    /// A new item number, never used before.
    func newItem() throws -> ItemID
    /// Saves an item; an empty one is removed.
    func save(_ item: Item) throws
    /// The item with an identity on the server, also when it is deleted there.
    func item(node: EntryID) throws -> Item?
    /// The items whose last stat has this handle, in the order of their identities; hard links give several.
    func items(handle: FileHandle) throws -> [Item]
    /// Unsettled items, in the order of their identities, after one of them.
    func unsettled(after: ItemID?, limit: Int) throws -> [Item]
    /// How many items are unsettled.
    func unsettledCount() throws -> Int
    /// Remote items of an older generation: those that a full pass has not shown (mark and sweep).
    func unseen(before generation: Int64, limit: Int) throws -> [Item]
    /// Items that have a merge base, in the order of their identities, after one of them; never the root.
    func synced(after: ItemID?, limit: Int) throws -> [Item]
    /// How many items are synced.
    func syncedCount() throws -> Int
    /// How many of the server's items in the mirrored folder are excluded.
    func excludedCount() throws -> Int

    /// A folder's listing as it was when disk and tree last agreed; nil when unknown.
    func listing(of folder: ItemID) throws -> KnownListing?
    /// Saves a known listing, or invalidates it with nil; it is also removed with its item.
    func setListing(_ listing: KnownListing?, of folder: ItemID) throws

    /// A value by its key.
    func meta(_ key: MetaKey) throws -> String?
    /// Saves or removes a value.
    func setMeta(_ key: MetaKey, _ value: String?) throws
    /// Saves a value lazily: with the next change, or when the store rests or is closed. Until then only this store
    /// returns it, and a process that is killed loses it.
    func setMetaLater(_ key: MetaKey, _ value: String) throws

    /// All records of a kind, in the order of their keys.
    func records<Record: StoredRecord>(_ kind: Record.Type) throws -> [Record]
    /// Saves a record; those with the same key, or the same value in another unique column, are replaced.
    func save<Record: StoredRecord>(_ record: Record) throws
    /// Removes the record with a key, if there is one.
    func removeRecord<Record: StoredRecord>(_ kind: Record.Type, _ key: StoredValue) throws
    /// Replaces all records of a kind.
    func setAll<Record: StoredRecord>(_ records: [Record]) throws

    /// The problems of a path and of all below it.
    func problems(below path: String) throws -> [ProblemRecord]

    /// Adds to the log, which keeps the last 100,000 events.
    func log(_ event: LogRecord) throws
    /// The newest events, newest last; with a path, those of it and of all paths below it.
    func events(limit: Int, below path: String?) throws -> [LogRecord]

    /// Closes the store; nothing may be called after.
    func close() throws
}

extension TreeStore {
    func reading<Result>(_ body: () throws -> Result) throws -> Result { try body() }

    func rest() throws {}

    func problems(below path: String) throws -> [ProblemRecord] {
        try problems().filter { LocalPath.isWithin($0.path, path) }
    }

    /// Visits all of the server's items in a folder, parents first, at any depth.
    func visitRemote(below folder: ItemID, _ visit: (Item) throws -> Void) throws {
        var folders = [folder]
        var seen: Set<ItemID> = [folder]
        while let next = folders.popLast() {
            for child in try children(of: next, on: .remote) {
                try visit(child)
                // A cycle of folders in the remote tree must end as well.
                if child.isFolder, seen.insert(child.id).inserted { folders.append(child.id) }
            }
        }
    }
}

/// A folder's listing when disk and tree last agreed: its fingerprint shows whether anything in it has changed.
struct KnownListing: Hashable, Sendable {
    /// The two halves of the listing's fingerprint.
    var high: UInt64
    var low: UInt64
    /// The folders in it that are part of the tree, with their names on disk, in the order of their identities.
    var folders: [ListedFolder]
}

/// A subfolder of a known listing.
struct ListedFolder: Hashable, Sendable {
    var item: ItemID
    var name: String
}

/// Keys of single values in the database.
enum MetaKey: String, Hashable, Sendable, CaseIterable {
    /// The database's identity; the mirror's root has the same in its marker.
    case mirrorID
    /// The cursor of the server's feed.
    case cursor
    /// Of which server and folder the cursor is.
    case remoteIdentity
    /// Which journal of the server is followed.
    case epoch
    /// Set during a full pass over another journal.
    case isForeign
    /// The journal's position up to which the server's tree is complete.
    case sequence
    /// The node of the mirrored folder.
    case rootNode
    /// The number of the last full pass over the server's state.
    case generation
    /// Set during a full pass.
    case isSweepPending
    /// Set during a pass along `/delta`, whose deletions and new entries may be moves.
    case isDeltaOpen
    /// The identity of the mirror's file system.
    case fileSystem
    /// When mirror and server last agreed, in seconds since 1970.
    case lastSync
    /// Set while an engine has the mirror open, so that an unclean end is noticed.
    case isOpen
    /// Until when syncing is paused, in seconds since 1970, or `forever`.
    case pausedUntil
    /// The deselected folder whose files are being removed from the disk.
    case pendingDeselection = "departing"
    /// The hash of the ignore file that was last applied to the trees.
    case rules
    /// The text of the applied ignore file; empty when there was none.
    case ignoreText
    /// Which patterns that need no ignore file were last applied to the trees.
    case defaultRules
    /// The hash of the approved ignore file.
    case approvedRules
    /// The hash of the ignore file that was last written on this machine.
    case ownRules
    /// Set while an engine waits for an unmetered network.
    case metered
    /// Why changes on disk are noticed late: one line for people.
    case watching
    /// The number of the item that the audit has read last.
    case audit
    /// The name of the member whose mirror it is.
    case member
}

/// A skipped path, and why.
struct ProblemRecord: Hashable, Sendable {
    /// The path relative to the mirror's root.
    var path: String
    /// The item, when the path has one.
    var item: ItemID?
    /// One line for people.
    var message: String
    /// Whether a scan found it: such a problem is removed by the next scan of the folder, others by the next attempt.
    var isFromScan: Bool
    /// When the next attempt is made, in seconds since 1970; nil when only a change can help.
    var nextAttempt: Int64?
}

/// A held deletion.
struct HeldDeletionRecord: Hashable, Sendable {
    var item: ItemID
    /// Where it would be deleted.
    var side: Side
    /// The path relative to the mirror's root.
    var path: String
    /// When it was first held, in seconds since 1970.
    var since: Int64
}

/// Two contents of one entry, both kept.
struct ConflictRecord: Hashable, Sendable {
    /// The entry's path relative to the mirror's root.
    var path: String
    /// The path of the copy that holds the other content.
    var copy: String
    /// The content that kept the name.
    var winner: ContentHash?
    /// The content that is in the copy.
    var loser: ContentHash?
    /// When, in seconds since 1970.
    var at: Int64
    var isResolved = false
}

/// One event of the log.
struct LogRecord: Hashable, Sendable {
    /// When, in seconds since 1970.
    var at: Int64
    /// The path relative to the mirror's root.
    var path: String
    /// What happened, as ``SyncEvent/Kind``.
    var event: String
    /// The rule that decided.
    var rule: String?
    /// One line for people.
    var detail: String?
}

extension TreeStore {
    /// How many entries the ignore rules exclude, on either side.
    func ignored() throws -> SyncStatus.Ignored {
        let disk = try IgnoredOnDisk(self).total(in: self)
        let chosen = try records(LeftOutFolder.self).compactMap { try folder(at: $0.key, on: .remote)?.id }
            .reduce(0) { try $0 + remoteCount($1) }
        return SyncStatus.Ignored(disk: disk, server: max(0, try excludedCount() - chosen))
    }

    /// How many entries of the server there are in an item, itself included.
    func remoteCount(_ id: ItemID) throws -> Int {
        guard let item = try item(id), item.isFolder else { return 1 }
        var count = 1
        try visitRemote(below: id) { _ in count += 1 }
        return count
    }
}

/// The unsettled items in chunks, in the order of their identities.
///
/// Each chunk is read on demand, without the items that are settled by then.
struct UnsettledChunks {
    private let store: any TreeStore
    private let size: Int
    private var last: ItemID?

    /// Starts at the first one.
    init(_ store: any TreeStore, of size: Int) {
        self.store = store
        self.size = size
    }

    /// The next ones; nil when there are no more.
    mutating func next() throws -> [Item]? {
        let chunk = try store.unsettled(after: last, limit: size)
        guard let end = chunk.last else { return nil }
        last = end.id
        return chunk
    }
}
