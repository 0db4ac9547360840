import ByteClubCore

/// A page of a server's feed, whatever protocol it came by.
struct FeedPage: Sendable {
    var changes: [FeedChange]
    /// Where the next page starts.
    var cursor: String
    /// Whether the next page can be had at once.
    var hasMore: Bool
    /// Whether the server's whole state starts here: what no page lists until ``hasMore`` is false does not exist.
    var isReset: Bool
    /// Which numbering the feed's identities are of; nil for a feed of paths, in which a move is a deletion and a new
    /// entry.
    var epoch: String?
    /// The journal's position up to which everything has been listed; nil while more pages follow, and without a journal.
    var position: Int64?
}

/// One change in a feed.
enum FeedChange: Sendable {
    /// An entry is new, or has a new state.
    case upsert(RemoteEntry)
    /// An entry was deleted, with its contents; it has an identity, which it kept wherever it was moved.
    case gone(EntryID, Revision?)
    /// What was at a path was deleted, with its contents.
    case goneFrom(PathKey)
}

/// An entry as a feed or an answer describes it, at a place in the server's terms.
struct RemoteEntry: Sendable {
    /// The entry's place.
    enum Place: Sendable {
        /// An entry with an identity, by its name in a folder with one.
        case node(EntryID, in: EntryID, name: String)
        case path(RemotePath)
    }

    let place: Place
    let isFolder: Bool
    /// The content's hash; nil for folders, and when the server sends none.
    let hash: ContentHash?
    let size: Int64
    let revision: Revision?
    /// The journal's number of the place's revision; 0 without identities.
    let placeRevision: Int64
    let modified: FileTime?
    let isExecutable: Bool?

    /// The entry's state at a location of the tree.
    func state(at location: Location) -> RemoteState {
        var node: EntryID?
        if case .node(let id, _, _) = place { node = id }
        return RemoteState(
            node: node, location: location, isFolder: isFolder, hash: hash, size: size, revision: revision,
            placeRevision: placeRevision, modified: modified, isExecutable: isExecutable)
    }

    /// The newer state of an entry at the same location; `hash` is the content's when the server sends none.
    func state(of seen: RemoteState, hash: ContentHash?) -> RemoteState {
        var state = state(at: seen.location)
        state.generation = seen.generation
        state.hash = state.hash ?? hash
        return state
    }
}

extension RemoteEntry {
    init(_ entry: SyncEntry) {
        place = .node(EntryID(entry.node), in: EntryID(entry.parent), name: entry.name)
        (isFolder, hash, size) = (entry.isFolder, entry.hash, entry.bytes)
        (revision, placeRevision) = (JournalRevision(number: entry.revision).revision, entry.placeRevision)
        (modified, isExecutable) = (entry.clientModified, entry.isExecutable)
    }

    init(_ metadata: Metadata) {
        place = .path(metadata.path)
        (isFolder, hash, size) = (metadata.isFolder, metadata.contentHash, metadata.bytes)
        (revision, placeRevision) = (metadata.rev, 0)
        (modified, isExecutable) = (metadata.fileTime, metadata.isExecutable)
    }
}

extension FeedPage {
    /// Reads a page of a journal, which must go on after the position `last`.
    ///
    /// - Throws: ``RemoteError`` with the code `protocolViolation` when it goes backwards.
    init(_ page: SyncPage, after last: inout Int64) throws(RemoteError) {
        if page.isReset { last = 0 }
        changes = []
        changes.reserveCapacity(page.entries.count)
        for entry in page.entries {
            guard entry.sequence > last else {
                throw RemoteError(.protocolViolation, "the server's journal goes backwards")
            }
            last = entry.sequence
            changes.append(FeedChange(entry))
        }
        (cursor, hasMore, isReset, position) = (page.cursor, page.hasMore, page.isReset, page.sequence)
        epoch = String(page.cursor.prefix { $0 != "." })
    }

    /// Reads a page of `/delta`.
    init(_ page: DeltaPage) {
        changes = page.entries.map { entry in
            guard let metadata = entry.metadata, !metadata.isDeleted else { return .goneFrom(entry.key) }
            return .upsert(RemoteEntry(metadata))
        }
        (cursor, hasMore, isReset) = (page.cursor, page.hasMore, page.reset)
    }
}

extension FeedChange {
    init(_ entry: SyncEntry) {
        self =
            entry.isDeleted
            ? .gone(EntryID(entry.node), JournalRevision(number: entry.revision).revision)
            : .upsert(RemoteEntry(entry))
    }
}

extension Revision {
    /// The journal's number; nil when it is no journal's.
    var journalNumber: Int64? { JournalRevision(self)?.number }
}

extension RemoteState {
    /// The journal's number of the content's revision, on which a write is made to depend.
    ///
    /// - Throws: ``RemoteError`` with the code `protocolViolation` when the revision is no journal's: without a condition,
    ///   a write would replace whatever the server has.
    func requiredNumber() throws(RemoteError) -> Int64 {
        if let number = revision?.journalNumber { return number }
        throw RemoteError(.protocolViolation, "'\(location.name)' has an invalid revision")
    }
}
