import ByteClubCore
import Crypto

/// The shared folder with its history, the contents of its files, and searches in its names and texts.
protocol FolderStore: Sendable {
    /// The random name of this data directory's journal, made once; 32 hexadecimal digits.
    var epoch: String { get }

    /// The secret that signs cursors of this data directory, made once.
    var signingKey: SymmetricKey { get }

    /// Runs a closure on a snapshot of the folder; never waits for a writer. Rethrows what the closure throws.
    func read<T: Sendable>(
        _ body: @escaping @Sendable (SharedFolder) throws -> T
    ) async throws -> T

    /// Runs a closure that changes the folder, and stores contents with it; returns when all is durable.
    ///
    /// Writes that are waiting at the same time may share one transaction and one sync. A closure that throws undoes
    /// its own changes only, and the error is rethrown. A content is kept when the closure recorded a version with its
    /// hash. Cancelling does not stop a write that waits.
    ///
    /// - Throws: Besides the closure's errors, ``UploadError`` when a content is an upload that was completed or went
    ///   on meanwhile, and ``StorageError`` `overQuota` when the folder would grow beyond a limit.
    func write<T: Sendable>(
        by author: Int64, storing contents: [StagedContent],
        _ body: @escaping @Sendable (inout SharedFolder) throws -> T
    ) async throws -> T

    /// Waits until there is a change after a revision at or below `prefix`: true, or false after the timeout.
    ///
    /// Answers at once when there is one already, also when the revision is higher than any this store gave.
    ///
    /// - Throws: `CancellationError` when the surrounding task is cancelled.
    func waitForChange(after revision: Int64, prefix: PathKey, timeout: Duration) async throws -> Bool

    /// A live file, or one of its versions, with its bytes.
    ///
    /// - Throws: As ``SharedFolder/file(_:revision:)``.
    func file(_ path: RemotePath, revision: JournalRevision?) async throws -> (
        entry: FolderEntry, content: StoredContent
    )

    /// The bytes of a file's version.
    ///
    /// - Throws: ``StorageError`` `damaged` for a version that has none, or whose bytes are lost.
    func content(of entry: FolderEntry) async throws -> StoredContent

    /// What a member is called who made versions, also one who was removed; answers from memory when it was asked
    /// before.
    func name(ofMember uid: Int64) async throws -> String?

    /// A page of the journal, with the inline contents in the order of their entries.
    ///
    /// Contents that `writer` has sent itself are left out, as far as that is known.
    ///
    /// - Throws: As ``SharedFolder/journal(after:epoch:limits:)`` for a cursor that is not of this journal.
    func journal(
        after cursor: JournalCursor?, besides writer: OperationWriter?, limits: JournalLimits
    ) async throws -> (page: SyncPage, bodies: [[UInt8]])

    /// The entries below a folder that match a query, the latest writes included.
    ///
    /// - Throws: As ``SharedFolder/existing(_:)`` when there is no such folder.
    func searchTexts(
        _ path: RemotePath, query: TextQuery, includeDeleted: Bool, limit: Int
    ) async throws -> TextSearchResults

    /// Indexes some of the writes since the last call, in a time that writers hardly notice.
    ///
    /// - Returns: The last change that is indexed; nil while there is more to do.
    func indexTexts() async throws -> Int64?

    /// Empties the index, so that ``indexTexts()`` builds it again.
    func forgetTexts() async throws
}

extension SyncPage {
    /// The page of a folder's entries after a cursor.
    init(
        _ entries: [FolderEntry], of folder: SharedFolder, after cursor: JournalCursor?,
        next: JournalCursor, hasMore: Bool, limits: JournalLimits
    ) throws {
        self.init(
            isReset: cursor == nil, cursor: next.description, sequence: hasMore ? nil : next.position, hasMore: hasMore,
            entries: try entries.map { try folder.told($0, isInline: limits.takes($0)) })
    }
}
