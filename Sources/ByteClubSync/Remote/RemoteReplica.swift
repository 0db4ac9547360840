import ByteClubCore

/// How far a pull of the server's feed has come.
enum PullResult: Hashable, Sendable {
    /// More pages follow; `lands` when the contents that came along are worth being brought to the disk before.
    case more(lands: Bool)
    /// The tree is as the server is.
    case end
}

/// What a wait for the server's changes has ended with.
enum PollResult: Sendable {
    /// A page of the journal that begins at a cursor.
    case page(SyncChanges, after: String)
    /// There are changes.
    case changed
    /// The server was away or refused the cursor.
    case failed
}

/// What a large file's way to the server has come to.
enum UploadResult: Sendable {
    /// The server has all chunks; the write is still to be made.
    case chunks
    /// The server has the file.
    case stored(Metadata)
    /// The file is not what was read before.
    case changed
}

/// The server as a session sees it: it brings the tree up to what the server tells, and carries out writes.
///
/// One that follows the journal and one that knows paths alone do the same by other calls. A call is made by the session
/// alone, one at a time; the work that ``poll()`` and ``upload(_:)`` give runs beside it.
protocol RemoteReplica: AnyObject {
    /// The server's side of the trees.
    var tree: RemoteTree { get }

    /// Reads the next page of the feed and keeps it in the tree.
    ///
    /// - Throws: ``RemoteError``; the next call begins where the tree stands.
    func pull(_ report: inout SyncReport) async throws -> PullResult

    /// Forgets a pull that is under way.
    func abandonPull()

    /// Keeps a page of the journal that a poll has brought.
    func ingest(_ changes: SyncChanges, after cursor: String, _ report: inout SyncReport) throws

    /// Contents that came along with the feed.
    var inlineContents: InlineContentCache { get set }

    /// A wait for the server's changes, to be run beside the session; nil while the feed was never read.
    func poll() throws -> (@Sendable () async throws -> PollResult)?

    /// Carries out writes, in their order as far as they depend on each other.
    func write(_ operations: [Operation], _ reader: FileReader, _ report: inout SyncReport) async throws

    /// Sends a merged text; true when the server has it as the successor of the version that was merged in.
    func writeMerged(
        _ bytes: [UInt8], _ hash: ContentHash, _ item: Item, _ remote: RemoteState, _ report: inout SyncReport
    ) async throws -> Bool

    /// Begins to send a large file; the work runs beside the session. Nil when it must wait.
    func upload(_ upload: LargeUpload, _ report: inout SyncReport) throws -> (
        @Sendable () async throws -> UploadResult
    )?

    /// Keeps what a large file's way has come to, which may need one more call.
    func finish(_ upload: LargeUpload, _ result: UploadResult, _ report: inout SyncReport) async throws
}

/// Contents that came with the feed, kept until they are on the disk, as far as there is room.
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

/// The pause after a server's answer that tells nothing although it was to wait.
struct PollPause: Sendable {
    let clock: any SyncClock
    let start: SyncInstant

    init(_ clock: any SyncClock) {
        self.clock = clock
        start = clock.now
    }

    /// A server that has nothing to tell and does not wait is not asked without a pause.
    func rest() async throws {
        if clock.now - start < .seconds(1) { try await clock.sleep(until: clock.now + .seconds(1)) }
    }
}
