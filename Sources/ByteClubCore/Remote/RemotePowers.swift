/// What a remote can do beyond what every remote does, with the calls of each power.
///
/// A power with calls of its own is a value that answers them, and nil where the server does not have it.
public struct RemotePowers: Sendable {
    /// Whether a delete can be made to depend on the version that was seen.
    public var conditionalDelete: Bool
    /// Whether metadata tells the content hash.
    public var contentHash: Bool
    /// Whether ``Remote/waitForChanges(after:timeout:)`` waits rather than answers at once.
    public var longPoll: Bool
    /// Whether its revisions are ``JournalRevision``s, so that of two versions it is known which is the later.
    public var orderedRevisions: Bool
    /// Identities, a journal with ordered revisions, and batches of writes.
    public var sync: (any SyncRemote)?
    /// Whether ``SyncRemote/putChunks(_:)`` sends many chunks in one request, of up to
    /// ``ChunkManifest/maximumChunkBytes`` each, a batch stores what ``SyncRemote/sendUpload(_:progress:)`` has sent, and
    /// chunks are found in the version that they are an edit of.
    public var bulkChunks: Bool
    /// Links for people without an account.
    public var links: (any LinkRemote)?
    /// Links that are listed, taken back, and end at a chosen time.
    public var managedLinks: (any ManagedLinkRemote)?
    /// What members did, the newest first.
    public var history: (any HistoryRemote)?
    /// Searches in the texts of files.
    public var textSearch: (any TextSearchRemote)?
    /// Searches for photos by kind, time and place.
    public var photoSearch: (any PhotoSearchRemote)?

    /// Creates a set of powers.
    public init(
        conditionalDelete: Bool, contentHash: Bool, longPoll: Bool, orderedRevisions: Bool,
        sync: (any SyncRemote)? = nil, bulkChunks: Bool = false, links: (any LinkRemote)? = nil,
        managedLinks: (any ManagedLinkRemote)? = nil,
        history: (any HistoryRemote)? = nil, textSearch: (any TextSearchRemote)? = nil,
        photoSearch: (any PhotoSearchRemote)? = nil
    ) {
        self.conditionalDelete = conditionalDelete
        self.contentHash = contentHash
        self.longPoll = longPoll
        self.orderedRevisions = orderedRevisions
        self.sync = sync
        self.bulkChunks = bulkChunks
        self.links = links
        self.managedLinks = managedLinks
        self.history = history
        self.textSearch = textSearch
        self.photoSearch = photoSearch
    }
}
