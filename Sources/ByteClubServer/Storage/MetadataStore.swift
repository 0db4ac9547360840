import ByteClubCore
import Crypto

/// The shared folder's rows, small contents, uploads, links, and the accounts: one consistent, durable whole.
///
/// All calls may run at once. They throw ``StorageError`` for what the disk or the database does, besides what each names.
protocol MetadataStore: AccountStore, LinkStore {
    /// The random name of this data directory's journal, made once; 32 hexadecimal digits.
    var epoch: String { get }

    /// The secret that signs cursors of this data directory, made once.
    var signingKey: SymmetricKey { get }

    /// What the store has done since it was opened.
    var statistics: StoreStatistics { get }

    /// Where large contents are staged.
    var blobs: any BlobStore { get }

    /// Runs a closure on a snapshot of the folder; never waits for a writer. Rethrows what the closure throws.
    func read<T: Sendable>(
        _ body: @escaping @Sendable (SharedFolder<AnyFolderState>) throws -> T
    ) async throws -> T

    /// Runs a closure that changes the folder, and stores contents with it; returns when all is durable.
    ///
    /// Writes that are waiting at the same time share one transaction and one sync. A closure that throws undoes its own
    /// changes only, and the error is rethrown. A content is kept when the closure recorded a version with its hash.
    /// Cancelling does not stop a write that waits.
    ///
    /// - Throws: Besides the closure's errors, ``UploadError`` when a content is an upload that was completed or went
    ///   on meanwhile.
    func write<T: Sendable>(
        by author: Int64, storing contents: [StagedContent],
        _ body: @escaping @Sendable (inout SharedFolder<AnyFolderState>) throws -> T
    ) async throws -> T

    /// Waits until there is a change after a revision at or below `prefix`: true, or false after the timeout.
    ///
    /// Answers at once when there is one already, also when the revision is higher than any this store gave.
    ///
    /// - Throws: `CancellationError` when the surrounding task is cancelled.
    func waitForChange(after revision: Int64, prefix: PathKey, timeout: Duration) async throws -> Bool

    /// A live file, or one of its versions, with its bytes.
    ///
    /// - Throws: ``APIError`` 404 as ``SharedFolder/file(_:revision:)``.
    func file(_ path: RemotePath, revision: Revision?) async throws -> (entry: FolderEntry, content: StoredContent)

    /// The bytes of a file's version.
    func content(of entry: FolderEntry) async throws -> StoredContent

    /// A page of the journal, with the contents that travel along in the order of their entries.
    ///
    /// - Throws: ``APIError`` 410 for a cursor that is not of this journal.
    func journal(
        after cursor: JournalCursor?, limits: JournalLimits
    ) async throws -> (page: SyncPage, bodies: [[UInt8]])

    /// Where parts of large contents wait.
    var chunks: ChunkStore { get }

    /// How much is stored, and how much there can be when this member goes on writing.
    func usage(of member: Int64) async throws -> StorageUsage

    /// Finds room for content before the first byte of it is written, and keeps it until the hold goes.
    ///
    /// - Parameters:
    ///   - bytes: How many bytes are to come.
    ///   - member: Who sends them.
    ///   - path: Where they will take the place of others; nil when that is not known.
    ///   - chunks: The member's chunks that they are made of, which go when they come.
    /// - Returns: What keeps the room; nil when there is no quota.
    /// - Throws: ``StorageError`` `full` when the disk has no room for them, `overQuota` when a quota has none.
    func hold(
        _ bytes: Int64, for member: Int64, replacing path: RemotePath?, naming chunks: [ContentHash]
    ) async throws -> BytesUnderWay.Hold?

    /// Says that a write has named chunks of a member, so that they need not wait any more.
    func named(_ chunks: [ContentHash], by member: Int64) async

    /// What ``keep(_:)`` was told of some contents.
    func mediaInfo(of hashes: [ContentHash]) async throws -> [ContentHash: MediaInfo]

    /// Keeps what was read from contents.
    func keep(_ found: [ContentHash: MediaInfo]) async throws

    /// Starts an upload in pieces: 0 bytes long, known for 48 hours, or until the member has begun too many others since.
    ///
    /// - Throws: ``UploadError`` `tooMany`.
    func beginUpload(member: Int64) async throws -> ChunkedUpload

    /// How far an upload has come.
    ///
    /// - Throws: ``UploadError`` `unknown`, or `alreadyCompleted`.
    func upload(_ id: String, member: Int64) async throws -> ChunkedUpload

    /// Starts a chunk; a chunk of the same upload that is still arriving is cut off and gets `wrongOffset`.
    ///
    /// - Throws: ``UploadError`` `unknown`, `wrongOffset`, or `alreadyCompleted`.
    func appendToUpload(_ id: String, member: Int64, at offset: Int64) async throws -> any UploadWriter

    /// The whole of an upload as content for ``write(by:storing:_:)``, which completes it; takes no second pass.
    ///
    /// - Throws: ``UploadError`` `unknown`, or `alreadyCompleted`.
    func finishedUpload(_ id: String, member: Int64) async throws -> StagedContent
}

extension MetadataStore {
    /// As ``hold(_:for:replacing:naming:)`` for bytes that take nothing's place.
    func hold(_ bytes: Int64, for member: Int64) async throws -> BytesUnderWay.Hold? {
        try await hold(bytes, for: member, replacing: nil, naming: [])
    }

    /// As ``write(by:storing:_:)`` with one content or none.
    func write<T: Sendable>(
        by author: Int64, storing content: StagedContent?,
        _ body: @escaping @Sendable (inout SharedFolder<AnyFolderState>) throws -> T
    ) async throws -> T {
        try await write(by: author, storing: content.map { [$0] } ?? [], body)
    }
}
