/// Content to store: bytes in memory, or a file that is streamed.
public enum Content: Sendable {
    /// Bytes in memory, for notes.
    case bytes([UInt8])
    /// A whole local file; on servers that can do that, the upload of a large one resumes where an earlier upload
    /// ended.
    case file(path: String, resumption: UploadResumption? = nil)
}

/// How far a transfer has come, in bytes.
public struct TransferProgress: Hashable, Sendable {
    /// The bytes that the other side has: of an upload those that the server has acknowledged, not those that were sent.
    public var completed: Int64
    /// The bytes of an upload that were sent beyond those and are not acknowledged yet.
    public var inFlight: Int64
    /// The bytes to move, nil while unknown.
    public var total: Int64?

    /// Creates a progress.
    public init(completed: Int64, inFlight: Int64 = 0, total: Int64?) {
        self.completed = completed
        self.inFlight = inFlight
        self.total = total
    }
}

/// A tree of notes and photos somewhere else.
///
/// All calls may run at once. Cancelling the surrounding task ends a call promptly with the code `cancelled`, and
/// nothing half-done is visible afterwards. Each failure is a ``RemoteError``. The suite `RemoteConformance` specifies
/// each call; every remote passes it.
public protocol Remote: Sendable {
    /// The powers beyond what every remote has; asks the server at most once.
    func powers() async throws(RemoteError) -> RemotePowers

    /// The member whose credentials are used. `GET /account/info`
    func account() async throws(RemoteError) -> Account

    /// Describes one entry, deleted or not, without its children. `GET /metadata?list=false`
    func metadata(at path: RemotePath) async throws(RemoteError) -> Metadata

    /// Describes a folder with its children; nil when its hash still is `hash`. `GET /metadata`
    func list(_ path: RemotePath, unless hash: String?, includeDeleted: Bool) async throws(RemoteError) -> Metadata?

    /// Describes a folder with its children, with ``MediaInfo`` for photos where the server has it. `GET /metadata`
    /// with `include_media_info`
    func listWithMediaInfo(_ path: RemotePath, includeDeleted: Bool) async throws(RemoteError) -> Metadata?

    /// The bytes of a file, at most `limit` of them; more is the error `tooLarge`. `GET /files`
    func content(
        at path: RemotePath, revision: Revision?, range: Range<Int64>?, limit: Int
    ) async throws(RemoteError) -> (bytes: [UInt8], metadata: Metadata)

    /// Writes a file's bytes to a new local file, which is there only when they all are; their number and hash are
    /// checked. Not synced to disk. `GET /files`
    ///
    /// At most `limit` bytes are written; more is the error `tooLarge`. More bytes than the server itself announced
    /// break the protocol, whatever the limit.
    ///
    /// With a `journal`, a file for this call only, a call that fails, is cancelled or killed leaves the received bytes
    /// in hidden files beside `file`. The next call with the same journal, in any process, resumes there if the server
    /// still has that version; a remote that cannot do so starts over. A process killed between the last byte and the
    /// check of the hash leaves an unchecked file.
    func download(
        _ path: RemotePath, revision: Revision?, limit: Int64?, to file: String, journal: String?,
        progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws(RemoteError) -> Metadata

    /// Stores content; when this returns, it is durable. `PUT /files_put`, or in chunks when it is large.
    ///
    /// Core API v1 stores an edit of a version that was deleted meanwhile as a new file under its old name. `modified`
    /// is when the content was made, and `executable` whether it may be executed; nil leaves the server's value.
    /// Content that the server already has there keeps its own time.
    func put(
        _ content: Content, at path: RemotePath, modified: FileTime?, executable: Bool?, condition: WriteCondition,
        policy: ConflictPolicy, progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws(RemoteError) -> Metadata

    /// A smaller picture of a photo that fits a box. `GET /thumbnails`
    func thumbnail(
        of path: RemotePath, size: ThumbnailSize, format: ThumbnailImageFormat
    ) async throws(RemoteError) -> (bytes: [UInt8], metadata: Metadata)

    /// The entries below a folder whose names hold all words of the query. `GET /search`
    func search(_ path: RemotePath, query: String, limit: Int) async throws(RemoteError) -> [Metadata]

    /// The changes after a cursor at or below `prefix`, or the whole state when there is no cursor. `POST /delta`
    func delta(after cursor: String?, prefix: RemotePath) async throws(RemoteError) -> DeltaPage

    /// Waits until there is a change after the cursor, or the timeout (30 to 480 s). `GET /longpoll_delta`
    func waitForChanges(after cursor: String, timeout: Duration) async throws(RemoteError) -> LongpollResult

    /// A file's versions, newest first, deletions among them; of those older than `revision` when there is one (1 to
    /// 1000). `GET /revisions`
    ///
    /// A server without this extension answers with the newest, whatever `revision` is.
    func revisions(
        of path: RemotePath, before revision: Revision?, limit: Int
    ) async throws(RemoteError) -> [Metadata]

    /// Makes a new version with an old one's content. `POST /restore`
    func restore(_ path: RemotePath, to revision: Revision) async throws(RemoteError) -> Metadata

    /// Makes a folder and its missing parents; `forbidden` when something is there. `POST /fileops/create_folder`
    func createFolder(_ path: RemotePath) async throws(RemoteError) -> Metadata

    /// Deletes an entry with all below it. `POST /fileops/delete`
    ///
    /// With `seen`, a file must still have that version, and in a folder nothing may have changed after it; otherwise
    /// `conflict`. A remote without ``RemotePowers/conditionalDelete`` looks first and then deletes. "After" requires
    /// ``RemotePowers/orderedRevisions``.
    func delete(_ path: RemotePath, ifUnchangedSince seen: Revision?) async throws(RemoteError) -> Metadata

    /// Moves an entry with all below it. `POST /fileops/move`
    func move(_ path: RemotePath, to destination: RemotePath) async throws(RemoteError) -> Metadata

    /// Copies an entry with all below it. `POST /fileops/copy`
    func copy(_ path: RemotePath, to destination: RemotePath) async throws(RemoteError) -> Metadata
}

extension Remote {
    /// Describes a folder with its children, for servers that know nothing of pictures.
    public func listWithMediaInfo(
        _ path: RemotePath, includeDeleted: Bool
    ) async throws(RemoteError) -> Metadata? {
        try await list(path, unless: nil, includeDeleted: includeDeleted)
    }

    /// Writes a file's bytes to a new local file, and leaves nothing where that fails.
    public func download(
        _ path: RemotePath, revision: Revision?, limit: Int64?, to file: String,
        progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws(RemoteError) -> Metadata {
        try await download(path, revision: revision, limit: limit, to: file, journal: nil, progress: progress)
    }

    /// A file's versions, newest first, deletions among them.
    public func revisions(of path: RemotePath, limit: Int) async throws(RemoteError) -> [Metadata] {
        try await revisions(of: path, before: nil, limit: limit)
    }

    /// Stores content and leaves open whether it may be executed.
    public func put(
        _ content: Content, at path: RemotePath, modified: FileTime?, condition: WriteCondition,
        policy: ConflictPolicy, progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws(RemoteError) -> Metadata {
        try await put(
            content, at: path, modified: modified, executable: nil, condition: condition, policy: policy,
            progress: progress)
    }

    /// Stores content that was made now.
    public func put(
        _ content: Content, at path: RemotePath, condition: WriteCondition, policy: ConflictPolicy,
        progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws(RemoteError) -> Metadata {
        try await put(
            content, at: path, modified: nil, condition: condition, policy: policy, progress: progress)
    }
}

/// What must hold at a path for a write to replace it.
public enum WriteCondition: Hashable, Sendable {
    /// Replace whatever live file is there.
    case overwrite
    /// Only when no live entry is there.
    case create
    /// Only when the live file there still has this version.
    case parent(Revision)
}

/// What to do when a ``WriteCondition`` does not hold.
public enum ConflictPolicy: Hashable, Sendable {
    /// Store under another name, which is in the answer's path.
    case rename
    /// Store nothing and fail with a conflict.
    case fail
}

/// How fast calls of a remote may move the bytes of files.
public enum TransferRate {
    /// The most bytes a second that such a call in this task moves, in each direction; nil for no limit of its own.
    @TaskLocal public static var limit: Int?
}
