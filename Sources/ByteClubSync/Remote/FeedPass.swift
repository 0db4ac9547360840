import ByteClubCore

/// Caches and results of applying one page of the server's feed.
struct FeedPass {
    /// The number of the pass when it covers the server's whole state; nil when it lists changes.
    var generation: Int64?
    /// Whether the server's numbering has restarted, so that identities and revisions have no meaning any more.
    var isForeign = false
    /// Whether it lists a known folder whose contents the tree does not know any more.
    var needsWholeState = false
    /// Which folders lie outside of the mirrored one.
    var outside: [ItemID: Bool] = [:]
    /// Items that a full pass has not shown, as they were.
    var swept: [(item: Item, path: RemotePath)] = []
    /// The paths of folders, relative to the mirror's root, as keys.
    private(set) var keys: [ItemID: PathKey] = [.root: .root]
    /// How many bytes the paths of folders have, in the mirror or out of it.
    private(set) var lengths: [ItemID: Int] = [.root: 0, .outside: 0]
    /// The record of the earlier pages of the pass.
    var record = FeedRecord()

    init(_ record: FeedRecord = FeedRecord()) { self.record = record }

    /// Drops the cached paths, since a folder has moved.
    mutating func forgetLocations() {
        outside = [:]
        forgetPaths()
    }

    /// Caches the path of a folder, up to a limit.
    mutating func keep(_ key: PathKey, of folder: ItemID) {
        if keys.count >= Self.mostPaths { forgetPaths() }
        keys[folder] = key
    }

    /// Caches the length of a folder's path, up to a limit.
    mutating func keep(length: Int, of folder: ItemID) {
        if lengths.count >= Self.mostPaths { forgetPaths() }
        lengths[folder] = length
    }

    /// The most cached paths: nested folders have long paths, which would grow quadratically with the page.
    private static var mostPaths: Int { 4_096 }

    private mutating func forgetPaths() { (keys, lengths) = ([.root: .root], [.root: 0, .outside: 0]) }
}

/// A record of the pages of one pass, to detect an endless one.
struct FeedRecord {
    var progress = FeedProgress()
    /// The items that were listed.
    var reported = ItemNumbers()
    /// Folders that were not listed themselves, only entries in them.
    var unreportedFolders = 0
    /// The last entry's position in the journal, which must rise.
    var sequence: Int64 = 0
    /// Deletions and new entries that may be moves, in a feed of paths.
    var moves = MoveDetector()
    /// Whether an interrupted pull applied earlier pages, whose entries are not in this record.
    var isContinued = false

    /// Counts a listed entry.
    mutating func note(_ item: ItemID) throws(RemoteError) {
        if !reported.insert(item) { try progress.takeRepeat() }
    }
}

/// Why the server's feed must be read before more is decided: the tree may not show what the server has.
enum FeedDoubt: String, Sendable {
    /// A write may have been done although it has no answer. Its echo is read before anything else is sent, so that it is
    /// not mistaken for somebody's edit.
    case echoExpected
    /// This engine has made a write that no answer describes in full.
    case ownWrite
    /// The server refused a call, because of a state that the feed describes, or for a fault that shows there if it lasts.
    case refused
    /// The answer to a write does not fit the tree: another entry is there, or its folder was moved.
    case answerMismatch
    /// A content is not the one that the tree describes.
    case contentMismatch
    /// An entry in a moved folder has not been verified yet.
    case unverified
    /// The server's entry has changed since the transfer was planned.
    case outdatedPlan
    /// The page of a long poll was not the last one, or began elsewhere than the tree ends.
    case incompletePage
    /// Folders are missing in the tree, which only a full pass lists again.
    case brokenTree
}
