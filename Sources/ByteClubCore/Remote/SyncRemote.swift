/// A page of the journal with the contents that came along.
public struct SyncChanges: Hashable, Sendable {
    /// The page.
    public var page: SyncPage
    /// The contents of those entries that are ``SyncEntry/isInline``, in their order.
    public var contents: [[UInt8]]

    /// Creates a page.
    public init(page: SyncPage, contents: [[UInt8]]) {
        self.page = page
        self.contents = contents
    }
}

/// A chunk to be sent.
public struct OutgoingChunk: Sendable {
    /// The hash of its bytes.
    public let hash: ContentHash
    /// Its length in bytes, at most ``ChunkManifest/maximumChunkBytes``.
    public let bytes: Int64
    /// The bytes, or a file that has them.
    public let content: Content
    /// Where they begin in the file; 0 for bytes.
    public let offset: Int64

    /// Describes a chunk.
    public init(hash: ContentHash, bytes: Int64, content: Content, offset: Int64 = 0) {
        self.hash = hash
        self.bytes = bytes
        self.content = content
        self.offset = offset
    }
}

/// Which small contents come with a page of the journal.
public enum JournalContents: Hashable, Sendable {
    /// None.
    case none
    /// All.
    case all
    /// All but those that the asking member itself sent in operations whose names begin with this text and a hyphen;
    /// some of them may still be included.
    case besides(writer: String)
}

/// The calls of ``RemotePowers/sync``, by which a sync engine follows and changes entries that have identities.
public protocol SyncRemote: Remote {
    /// The changes after a cursor, or the whole state without one, waiting for the first when there is none yet.
    ///
    /// `staleCursor` means to start over without one. `GET /sync/changes`
    func journal(
        after cursor: String?, limit: Int, contents: JournalContents, wait: Duration
    ) async throws(RemoteError) -> SyncChanges

    /// Does writes in their order, durable together; `contents` are those that are not in chunks, in their order.
    ///
    /// The server does not repeat an operation of the same name, so this call may be repeated. `POST /sync/batch`
    func apply(_ batch: SyncBatch, contents: [[UInt8]]) async throws(RemoteError) -> SyncOutcome

    /// The chunks that the server lacks: neither stored as chunks nor found in the version that they are an edit of,
    /// which it cuts into chunks and remembers for a while. `POST /sync/chunks/need`
    func missingChunks(
        of hashes: [ContentHash], base: ChunkQuestion.Base?
    ) async throws(RemoteError) -> [ContentHash]

    /// Sends a content for a later batch and returns its name there (``SyncOperation/Content/upload``); nothing is
    /// visible before. Resumes where an earlier upload of the same file ended; for ``RemotePowers/bulkChunks``.
    ///
    /// - Throws: `localFile` when the file changes while it is sent. `PUT /chunked_upload`
    func sendUpload(
        _ content: Content, progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws(RemoteError) -> String

    /// Sends a chunk of at most 4 MiB, kept for 48 hours. `PUT /sync/chunks/<hash>`
    func putChunk(_ bytes: [UInt8]) async throws(RemoteError)

    /// Sends chunks in one request, which become durable together; for ``RemotePowers/bulkChunks``.
    ///
    /// - Throws: `localFile` when a file changes while it is sent. `POST /sync/chunks`
    func putChunks(_ chunks: [OutgoingChunk]) async throws(RemoteError)

    /// The digests of a folder and of its subfolders. `GET /sync/digest`
    func digest(of path: RemotePath) async throws(RemoteError) -> SyncDigest
}

extension SyncRemote {
    /// The chunks that the server has not stored as chunks.
    public func missingChunks(of hashes: [ContentHash]) async throws(RemoteError) -> [ContentHash] {
        try await missingChunks(of: hashes, base: nil)
    }
}
