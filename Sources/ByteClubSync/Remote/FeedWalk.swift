import ByteClubCore

/// One page of the server's feed: what is remembered while its entries are taken.
struct FeedWalk {
    /// The walk's number when it tells the server's whole state; nil when it tells changes.
    var generation: Int64?
    /// Whether the server numbers anew, so that neither its identities nor its revisions mean what they did.
    var isForeign = false
    /// Whether it has told of a folder that was there before, and what is in it the tree does not know any more.
    var needsWholeState = false
    /// Which folders lie outside of the mirrored one.
    var outside: [ItemID: Bool] = [:]
    /// Items that a walk over the whole state has not shown, as they were.
    var swept: [(item: Item, path: RemotePath)] = []
    /// The paths of folders, relative to the mirror's root, as keys.
    private(set) var keys: [ItemID: PathKey] = [.root: .root]
    /// How many bytes the paths of folders have, in the mirror or out of it.
    private(set) var lengths: [ItemID: Int] = [.root: 0, .outside: 0]
    /// What the pages of the walk before this one have told.
    var record = FeedRecord()

    init(_ record: FeedRecord = FeedRecord()) { self.record = record }

    /// Forgets where folders lie, since one has moved.
    mutating func forgetPlaces() {
        outside = [:]
        forgetPaths()
    }

    /// Keeps the path of a folder; of many, not all.
    mutating func keep(_ key: PathKey, of folder: ItemID) {
        if keys.count >= Self.mostPaths { forgetPaths() }
        keys[folder] = key
    }

    /// Keeps the length of a folder's path; of many, not all.
    mutating func keep(length: Int, of folder: ItemID) {
        if lengths.count >= Self.mostPaths { forgetPaths() }
        lengths[folder] = length
    }

    /// Paths of folders in each other are long, so that those of a page without a bound would grow with its square.
    private static var mostPaths: Int { 4_096 }

    private mutating func forgetPaths() { (keys, lengths) = ([.root: .root], [.root: 0, .outside: 0]) }
}

/// What the pages of one walk have told so far, to notice a walk that has no end.
struct FeedRecord {
    var progress = FeedProgress()
    /// The items that were told of.
    var told = ItemNumbers()
    /// Folders of which only what is in them was told.
    var untoldFolders = 0
    /// Where the journal told of the last entry; each comes after the one before.
    var sequence: Int64 = 0

    /// Notes that an entry was told.
    mutating func note(_ item: ItemID) throws(RemoteError) {
        if !told.insert(item) { try progress.takeRepeat() }
    }
}

extension ItemID {
    /// What holds entries of the server that lie outside of the mirrored folder.
    static let outside = ItemID(-1)
}
