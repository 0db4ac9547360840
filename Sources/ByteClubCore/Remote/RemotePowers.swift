/// What a remote can do beyond what every remote does, with the calls of each power.
///
/// A power with calls of its own is a value that answers them, and nil where the server does not have it.
public struct RemotePowers: Sendable {
    /// Whether a delete can be made to depend on the version that was seen.
    public var conditionalDelete: Bool
    /// Whether metadata includes the content hash.
    public var contentHash: Bool
    /// Whether ``Remote/waitForChanges(after:timeout:)`` waits rather than answers at once.
    public var longPoll: Bool
    /// Whether its revisions are ``JournalRevision``s, so that of two versions the later one is known.
    public var orderedRevisions: Bool
    /// Identities, a journal with ordered revisions, and batches of writes.
    public var sync: (any SyncRemote)?
    /// Whether ``SyncRemote/putChunks(_:)`` sends many chunks in one request, of up to
    /// ``ChunkManifest/maximumChunkBytes`` each, a batch stores what ``SyncRemote/sendUpload(_:progress:)`` has sent, and
    /// chunks are found in the version that they are an edit of.
    public var bulkChunks: Bool
    /// Links for people without an account.
    public var links: (any LinkRemote)?
    /// Links that can be listed and revoked, and that end at a chosen time.
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

/// The calls of ``RemotePowers/links``: links that let in people without an account.
public protocol LinkRemote: Sendable {
    /// The caller's link to a file or a folder, a new one when there is none.
    ///
    /// A server without ``RemotePowers/managedLinks`` ignores the terms; an older one ignores the password and the
    /// choice about places, and its answer has neither. `POST /shares`
    func share(_ path: RemotePath, _ terms: LinkTerms) async throws(RemoteError) -> SharedLink
}

/// The calls of ``RemotePowers/managedLinks``.
public protocol ManagedLinkRemote: LinkRemote {
    /// The links that the caller may see, the newest first: those with a lower number than `id`. `GET /sync/links`
    func links(before id: Int64?) async throws(RemoteError) -> PublicLinkPage

    /// Revokes a link; `notFound` when the caller can see none of this number. `POST /sync/links/revoke`
    func revokeLink(_ id: Int64) async throws(RemoteError)
}

/// The terms of a link for people without an account; nil leaves the server's default, or the known link's term.
public struct LinkTerms: Hashable, Sendable {
    /// In how many seconds from now the link ends.
    public var lifetime: Int64?
    /// What one must know to follow it, 8 to 1024 bytes; empty for nothing.
    public var password: String?
    /// Whether photos are given with what they tell of places and cameras.
    public var keepsLocation: Bool?

    /// Creates terms.
    public init(lifetime: Int64? = nil, password: String? = nil, keepsLocation: Bool? = nil) {
        self.lifetime = lifetime
        self.password = password
        self.keepsLocation = keepsLocation
    }

    /// Whether all is as the server has it.
    public var isEmpty: Bool { self == LinkTerms() }
}

/// The calls of ``RemotePowers/history``: what members did.
public protocol HistoryRemote: Sendable {
    /// What members did, the newest first: changes after one number and before another, at most `limit` (1 to 1,000).
    ///
    /// With `wait` it waits that long for the first change after `after`, when there is none yet. `GET /sync/history`
    func history(
        before: Int64?, after: Int64?, limit: Int, wait: Duration
    ) async throws(RemoteError) -> HistoryPage
}

/// The calls of ``RemotePowers/textSearch``.
public protocol TextSearchRemote: Sendable {
    /// The entries below a folder in whose names or texts all that is looked for occurs, as ``TextQuery`` reads it.
    /// `GET /search` with `content`
    func searchTexts(_ path: RemotePath, query: String, limit: Int) async throws(RemoteError) -> TextSearchResults
}

/// The calls of ``RemotePowers/photoSearch``.
public protocol PhotoSearchRemote: Sendable {
    /// The photos below a folder that a filter looks for, each with what it is as a picture, the newest first.
    /// `GET /search` with `kind`, `taken_after`, `taken_before` or `near`
    ///
    /// The answer is incomplete where there are more than `limit`, and where photos are still to be looked at.
    func searchPhotos(
        _ path: RemotePath, _ filter: PhotoFilter, limit: Int
    ) async throws(RemoteError) -> PhotoSearchResults
}

/// What a search for photos found.
public struct PhotoSearchResults: Hashable, Sendable {
    /// The photos, the newest first.
    public var photos: [Metadata]
    /// Whether there are no more.
    public var isComplete: Bool

    /// Creates an answer.
    public init(photos: [Metadata], isComplete: Bool) {
        self.photos = photos
        self.isComplete = isComplete
    }
}
