import ByteClubCore

/// How current the tree is with respect to the server.
enum FeedState: Hashable, Sendable {
    /// The feed must be read.
    case stale
    /// A part of it was read; `inline` when contents that arrived with it are to be installed first.
    case partial(inline: Bool)
    case current

    var isPartial: Bool { if case .partial = self { true } else { false } }
}

/// The result of a long poll.
enum PollResult: Sendable {
    /// A page of the journal that begins at a cursor.
    case page(SyncChanges, after: String)
    /// There are changes.
    case changed
    /// The server was away or refused the cursor.
    case failed
}

/// The result of a large file's upload.
enum UploadResult: Sendable {
    /// The server has all chunks; the write is still to be sent.
    case chunks
    /// The server has all bytes, as the upload of this name; the write is still to be sent.
    case upload(String)
    /// The server has the file.
    case stored(Metadata)
    /// The file has changed since it was read.
    case changed
}

/// The server's side of a session: applies the feed to the tree, and carries out writes.
///
/// There are two implementations, one by the journal and one by paths. Only the session calls them, one call at a time;
/// the work that ``poll()`` and ``upload(_:_:)`` return runs in the background.
protocol RemoteReplica: AnyObject {
    /// The server's side of the trees.
    var tree: RemoteTree { get }

    /// Reads the next page of the feed and applies it to the tree.
    ///
    /// - Returns: How current the tree is then; it is not stale.
    /// - Throws: ``RemoteError``, and the store's errors; the next call continues at the tree's cursor.
    func pull(_ report: inout SyncReport) async throws -> FeedState

    /// Forgets a pull that is under way.
    func abandonPull()

    /// Applies a page of the journal that a poll has returned.
    ///
    /// - Throws: ``RemoteError`` with the code `protocolViolation` for a page that no server may send, and the store's
    ///   errors; the tree is unchanged then.
    func ingest(_ changes: SyncChanges, after cursor: String, _ report: inout SyncReport) throws

    /// Up to how many bytes a file is uploaded by ``write(_:_:_:)``; larger ones by ``upload(_:_:)``.
    var groupedUploadBytes: Int64 { get }

    /// Contents that came inline with the feed.
    var inlineContents: InlineContentCache { get set }

    /// The work of a long poll, to be run in the background; nil while the feed was never read to its end.
    ///
    /// - Throws: The store's errors; the work itself throws ``RemoteError``.
    func poll() throws -> (@Sendable () async throws -> PollResult)?

    /// Carries out writes, in order as far as they depend on each other.
    ///
    /// - Throws: ``RemoteError`` when no other write would succeed, and the store's errors; refusals of
    ///   single items are in the report.
    func write(_ writes: [PlannedWrite], _ reader: FileReader, _ report: inout SyncReport) async throws

    /// Uploads a merged text on condition that the server still has the version that was merged in; false when it has
    /// not.
    ///
    /// - Throws: ``RemoteError``, and the store's errors.
    func writeMerged(
        _ bytes: [UInt8], _ hash: ContentHash, _ item: Item, _ remote: RemoteState, _ report: inout SyncReport
    ) async throws -> Bool

    /// Whether an item's large file is to be cut into chunks, so that only those are sent that the server does not have.
    func isCut(_ item: Item) -> Bool

    /// Prepares the upload of a large file; the returned work runs in the background. Nil when it must wait.
    ///
    /// - Throws: The store's errors; the work itself throws ``RemoteError`` and ``FileError``.
    func upload(_ upload: LargeUpload, _ report: inout SyncReport) throws -> (
        @Sendable () async throws -> UploadResult
    )?

    /// Records the result of a large file's upload, which may need one more call.
    ///
    /// - Throws: ``RemoteError``, and the store's errors.
    func finish(_ upload: LargeUpload, _ result: UploadResult, _ report: inout SyncReport) async throws
}

/// A bounded cache of contents that came inline with the feed, until they are installed.
struct InlineContentCache: Sendable {
    /// The most bytes that are kept.
    static let limit = 24 << 20

    private var contents: [ContentHash: [UInt8]] = [:]
    private var size = 0

    /// Keeps a content if there is room.
    mutating func add(_ bytes: [UInt8], _ hash: ContentHash) {
        guard contents[hash] == nil, size + bytes.count <= Self.limit else { return }
        contents[hash] = bytes
        size += bytes.count
    }

    /// A content that is still kept.
    func content(_ hash: ContentHash) -> [UInt8]? { contents[hash] }

    /// Whether nothing is kept.
    var isEmpty: Bool { contents.isEmpty }

    /// Forgets all.
    mutating func clear() {
        contents.removeAll(keepingCapacity: true)
        size = 0
    }
}

extension SyncClock {
    /// Waits after a long poll that ended early without news, so that a server that does not hold long polls is not
    /// polled in a tight loop.
    ///
    /// - Throws: `CancellationError`.
    func restAfterPoll(since start: SyncInstant) async throws {
        if now - start < .seconds(1) { try await sleep(until: now + .seconds(1)) }
    }
}

/// Creates the replica for a server by its powers.
final class RemoteConnector {
    private let remote: any Remote
    private let context: SyncContext
    private let scanner: Scanner
    private let operations: OperationIDs
    /// The replica; nil before the first ``connect()``.
    private(set) var replica: (any RemoteReplica)?

    init(_ context: SyncContext, _ remote: any Remote, _ scanner: Scanner, _ operations: OperationIDs) {
        self.context = context
        self.remote = remote
        self.scanner = scanner
        self.operations = operations
    }

    /// The replica; asks the server for its powers the first time.
    ///
    /// - Throws: ``RemoteError`` when the server cannot be asked; the next call asks again.
    func connect() async throws(RemoteError) -> any RemoteReplica {
        if let replica { return replica }
        let powers = try await remote.powers()
        let tree = RemoteTree(
            context, remote, scanner, ordersRevisions: powers.orderedRevisions || powers.sync != nil)
        let made: any RemoteReplica
        if context.configuration.usesExtension, let wire = powers.sync {
            do {
                made = try JournalReplica(tree, wire, operations, sendsManyChunks: powers.bulkChunks)
            } catch {
                throw RemoteError(.localFile, SyncError.wrapping(error).message)
            }
        } else {
            made = PathReplica(tree, hasLongPoll: powers.longPoll)
        }
        replica = made
        return made
    }
}
