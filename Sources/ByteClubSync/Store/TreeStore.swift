import ByteClubCore

/// Where a mirror's three trees are kept, with what else must survive the process.
///
/// One engine at a time uses a store, from one thread at a time. ``StoreConformance`` says what each call does; the store
/// in SQLite and the one in memory both pass it. Each call may throw; a transaction that throws has changed nothing.
protocol TreeStore: TreeView, AnyObject {
    /// Does several changes as one; `durably` returns only when they are on disk. They do not nest.
    func transaction<Result>(durably: Bool, _ body: () throws -> Result) throws -> Result

    /// Reads many items; what others change in the store meanwhile is seen afterwards at the latest, and looked for only
    /// once.
    func reading<Result>(_ body: () throws -> Result) throws -> Result

    /// Gives back memory that only makes the next calls faster.
    func rest() throws

    /// A number that no item ever had.
    func newItem() throws -> ItemID
    /// Keeps an item as it is now; an empty one is forgotten.
    func save(_ item: Item) throws
    /// The item that the server calls so, also when it is deleted there.
    func item(node: NodeID) throws -> Item?
    /// The items that a look at the disk found to be this file, in the order of their identities; hard links are several.
    func items(handle: FileHandle) throws -> [Item]
    /// Items for which there is something to decide, in the order of their identities, after one of them.
    func unsettled(after: ItemID?, limit: Int) throws -> [Item]
    /// How many items there is something to decide about.
    func unsettledCount() throws -> Int
    /// Items that the server showed, whose generation is older: what a walk over its whole state has not shown.
    func unseen(before generation: Int64, limit: Int) throws -> [Item]
    /// Items that both sides had once, in the order of their identities, after one of them; never the root.
    func synced(after: ItemID?, limit: Int) throws -> [Item]
    /// How many items are synced.
    func syncedCount() throws -> Int
    /// How many items in the mirrored folder the server has that are kept out of the mirror.
    func excludedCount() throws -> Int

    /// The seal of a folder: what its listing looked like when disk and tree last agreed about it; nil when unknown.
    func seal(of folder: ItemID) throws -> FolderSeal?
    /// Keeps or forgets a seal; it is forgotten with its item, too.
    func setSeal(_ seal: FolderSeal?, of folder: ItemID) throws

    /// A value by its name.
    func meta(_ key: MetaKey) throws -> String?
    /// Keeps or forgets a value.
    func setMeta(_ key: MetaKey, _ value: String?) throws
    /// Keeps a value that is worth no transaction of its own: it goes with the next change, or when the store rests or is
    /// closed in order. Until then this store alone tells it, and a process that is killed has not kept it.
    func setMetaLater(_ key: MetaKey, _ value: String) throws

    /// All records of a kind, in the order of their keys.
    func records<Record: StoredRecord>(_ kind: Record.Type) throws -> [Record]
    /// Keeps a record; one with the same key is replaced.
    func save<Record: StoredRecord>(_ record: Record) throws
    /// Forgets the record with a key, if there is one.
    func removeRecord<Record: StoredRecord>(_ kind: Record.Type, _ key: StoredValue) throws

    /// What went wrong with single paths, in the order of the paths.
    func problems() throws -> [Problem]
    /// Replaces what is known to be wrong with an item, or with a path that no item has.
    func setProblem(_ problem: Problem?, path: String) throws

    /// Deletions that wait for somebody's word.
    func heldDeletions() throws -> [HeldDeletion]
    /// Replaces the deletions that wait.
    func setHeldDeletions(_ held: [HeldDeletion]) throws

    /// Conflicts, the newest first; `all` has those as well that were resolved.
    func conflicts(all: Bool) throws -> [ConflictRecord]
    /// Keeps a conflict; one of the same copy replaces the older.
    func addConflict(_ conflict: ConflictRecord) throws
    /// Notes that a conflict is resolved; by the copy's path.
    func resolveConflict(copy: String) throws

    /// Adds to the log, which keeps the last 100,000 events.
    func log(_ event: LogRecord) throws
    /// The newest events, newest last, of one path and what is below it when that is given.
    func events(limit: Int, below path: String?) throws -> [LogRecord]

    /// Closes the store; nothing may be called after.
    func close() throws
}

extension TreeStore {
    func reading<Result>(_ body: () throws -> Result) throws -> Result { try body() }

    func rest() throws {}

    /// Visits all that the server has in a folder, each folder before what is in it, however deep that is.
    func visitRemote(below folder: ItemID, _ visit: (Item) throws -> Void) throws {
        var folders = [folder]
        var seen: Set<ItemID> = [folder]
        while let next = folders.popLast() {
            for child in try children(of: next, on: .remote) {
                try visit(child)
                // A database that a server has filled with folders in each other comes to an end, too.
                if child.isFolder, seen.insert(child.id).inserted { folders.append(child.id) }
            }
        }
    }
}

/// What a folder looked like, so that one look tells whether anything in it has changed.
struct FolderSeal: Hashable, Sendable {
    /// The two halves of a sum over all entries' names and looks, whatever their order.
    var high: UInt64
    var low: UInt64
    /// The folders in it that are part of the tree, with their names on disk, in the order of their identities.
    var folders: [SealedFolder]
}

/// A folder in a sealed one.
struct SealedFolder: Hashable, Sendable {
    var item: ItemID
    var name: String
}

/// What the database keeps beside the trees.
enum MetaKey: String, Hashable, Sendable, CaseIterable {
    /// Which database it is; the mirror's root has the same.
    case mirrorID
    /// Where the server's feed goes on.
    case cursor
    /// Of which server and folder the cursor is.
    case remoteIdentity
    /// Which journal of the server is followed.
    case epoch
    /// Set while a walk over the whole state of another journal is under way.
    case isForeign
    /// The journal's position up to which the server's tree is complete.
    case sequence
    /// What the server calls the mirrored folder.
    case rootNode
    /// The number of the last walk over the server's whole state.
    case generation
    /// Set while such a walk is under way.
    case isSweepPending
    /// Set while a walk along `/delta` is under way, whose deletions and new entries may be moves.
    case isDeltaOpen
    /// The file system on which the mirror lies.
    case fileSystem
    /// When mirror and server last agreed, in seconds since 1970.
    case lastSync
    /// Set while an engine has the mirror open, so that an unclean end is noticed.
    case isOpen
    /// Until when syncing is paused, in seconds since 1970, or `forever`.
    case pausedUntil
    /// The folder that is left out and whose files are being removed from the disk.
    case departing
    /// The hash of the ignore file to which the trees were brought last.
    case rules
    /// The ignore file's text to which they were brought; empty when there was none.
    case ignoreText
    /// The hash of the ignore file that somebody has approved.
    case approvedRules
    /// The hash of the ignore file that somebody has last written on this machine.
    case ownRules
    /// Why changes on disk are noticed later than they might be: one line for people.
    case watching
    /// The number of the item that the slow audit has read last.
    case audit
}

/// A path that is left alone, and why.
struct Problem: Hashable, Sendable {
    /// The path relative to the mirror's root.
    var path: String
    /// The item, when the path has one.
    var item: ItemID?
    /// One line for people.
    var message: String
    /// What found it: what a scan found goes with the next look at the folder, the rest with the next attempt.
    var isFromScan: Bool
    /// When the next attempt is made, in seconds since 1970; nil when only a change can help.
    var nextAttempt: Int64?
}

/// A deletion that waits for somebody's word.
struct HeldDeletion: Hashable, Sendable {
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
