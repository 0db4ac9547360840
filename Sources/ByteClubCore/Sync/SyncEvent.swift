/// One thing that happened while syncing; a line of `byteclub sync --json`.
public struct SyncEvent: Hashable, Sendable, Codable {
    /// What happened.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// A file came from the server.
        case download
        /// A file went to the server.
        case upload
        /// A local entry went into the trash.
        case deleteLocal = "delete-local"
        /// An entry was deleted on the server.
        case deleteRemote = "delete-remote"
        /// A local folder was made.
        case makeLocalFolder = "mkdir-local"
        /// A folder was made on the server.
        case makeRemoteFolder = "mkdir-remote"
        /// A local entry was renamed or moved, as it was on the server.
        case moveLocal = "move-local"
        /// An entry was renamed or moved on the server, as it was in the mirror.
        case moveRemote = "move-remote"
        /// Both sides changed a note in different lines: one note has both changes now.
        case merge
        /// Both sides changed an entry; the local one is kept under `copy`.
        case conflict
        /// One path is left alone; the message says why.
        case problem
        /// A deletion waits for approval, or new ignore rules that would leave out much.
        case held
        /// A transfer moves on.
        case progress
        /// Syncing is paused, until the time in `until` or until somebody resumes it.
        case paused
        /// Mirror and server agree; emitted in continuous mode.
        case idle
        /// The last event of one sync.
        case summary
    }

    /// What happened.
    public var event: Kind
    /// The path relative to the mirror's root, without a slash at its start; nil for events about the whole.
    public var path: String?
    /// Where the entry was before, of a `move-local` and a `move-remote`.
    public var from: String?
    /// Whether a `download` brought an entry that was not in the mirror before; nil for all other events.
    public var isNew: Bool?
    /// The bytes moved; of a `progress`, so far.
    public var bytes: Int64?
    /// The bytes to move, of a `progress`.
    public var total: Int64?
    /// The conflict copy's path, of a `conflict`.
    public var copy: String?
    /// One line for people.
    public var message: String?
    /// When a `paused` ends, or when what failed by a `problem` is tried again, in seconds since 1970; nil when no time
    /// is set.
    @OptionalJSONMoment public var until: Int64?
    /// The counts, of a `summary`.
    public var summary: SyncSummary?

    private enum CodingKeys: String, CodingKey {
        case event, path, from, isNew = "new", bytes, total, copy, message, until, summary
    }

    /// Creates an event.
    public init(
        _ event: Kind, path: String? = nil, from: String? = nil, bytes: Int64? = nil, total: Int64? = nil,
        copy: String? = nil, message: String? = nil, until: Int64? = nil, summary: SyncSummary? = nil
    ) {
        self.event = event
        self.path = path
        self.from = from
        self.bytes = bytes
        self.total = total
        self.copy = copy
        self.message = message
        self.until = until
        self.summary = summary
    }
}
