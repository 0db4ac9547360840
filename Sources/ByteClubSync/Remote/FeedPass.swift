import ByteClubCore

/// One page of the server's feed: what is cached while its entries are ingested.
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
    /// What the earlier pages of the pass have listed.
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

/// What the pages of one pass have listed so far, to detect an endless pass.
struct FeedRecord {
    var progress = FeedProgress()
    /// The items that were listed.
    var reported = ItemNumbers()
    /// Folders that were not listed themselves, only entries in them.
    var unreportedFolders = 0
    /// The last entry's position in the journal, which must rise.
    var sequence: Int64 = 0

    /// Counts a listed entry.
    mutating func note(_ item: ItemID) throws(RemoteError) {
        if !reported.insert(item) { try progress.takeRepeat() }
    }
}

extension ItemID {
    /// The parent of the server's entries outside of the mirrored folder.
    static let outside = ItemID(-1)
}
