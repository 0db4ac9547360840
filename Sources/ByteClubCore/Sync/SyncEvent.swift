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
        /// One path is not synced; the message has the reason.
        case problem
        /// A deletion waits for approval, or new ignore rules that would leave out much.
        case held
        /// A transfer moves on.
        case progress
        /// Syncing is paused, until the time in `until`, until a person resumes it, or until `cause` is over.
        case paused
        /// Mirror and server agree; emitted in continuous mode.
        case idle
        /// The last event of one sync.
        case summary
    }

    /// What has paused a sync, unless a person has.
    public enum PauseCause: String, Hashable, Sendable, Codable {
        /// The network is metered, and the sync waits for an unmetered one.
        case metered
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
    /// What ends a `paused` by its own end; nil when a person has paused the sync.
    public var cause: PauseCause?
    /// The counts, of a `summary`.
    public var summary: SyncSummary?

    private enum CodingKeys: String, CodingKey {
        case event, path, from, isNew = "new", bytes, total, copy, message, until, cause,
            summary
    }

    /// Creates an event.
    public init(
        _ event: Kind, path: String? = nil, from: String? = nil, bytes: Int64? = nil, total: Int64? = nil,
        copy: String? = nil, message: String? = nil, until: Int64? = nil, cause: PauseCause? = nil,
        summary: SyncSummary? = nil
    ) {
        self.event = event
        self.path = path
        self.from = from
        self.bytes = bytes
        self.total = total
        self.copy = copy
        self.message = message
        self.until = until
        self.cause = cause
        self.summary = summary
    }
}

/// What one sync did.
public struct SyncSummary: Hashable, Sendable, Codable {
    /// Files sent.
    public var uploaded = 0
    /// Files received.
    public var downloaded = 0
    /// Local entries put into the trash.
    public var deletedLocal = 0
    /// Entries deleted on the server; a folder counts with all below it.
    public var deletedRemote = 0
    /// Entries renamed or moved in the mirror; a folder counts once.
    public var movedLocal = 0
    /// Entries renamed or moved on the server; a folder counts once.
    public var movedRemote = 0
    /// Notes in which the changes of both sides were put together.
    public var merged = 0
    /// Conflict copies made.
    public var conflicts = 0
    /// Deletions that wait for approval.
    public var held = 0
    /// Entries in sync that new ignore rules would leave out, which wait for approval.
    public var heldByRules = 0
    /// What the ignore rules leave out.
    public var ignored = SyncStatus.Ignored()
    /// Skipped paths, whose reasons were reported.
    public var problems = 0
    /// Bytes of the files sent.
    public var bytesUp: Int64 = 0
    /// Bytes of the files received.
    public var bytesDown: Int64 = 0
    /// Whether mirror and server agree on everything: nothing held, no problem.
    public var isComplete = false

    /// Creates a summary of nothing.
    public init() {}

    /// Counts an event that concerns so many entries.
    public mutating func count(_ event: SyncEvent, nodes: Int) {
        switch event.event {
        case .upload:
            uploaded += 1
            bytesUp += event.bytes ?? 0
        case .download:
            downloaded += 1
            bytesDown += event.bytes ?? 0
        case .deleteLocal: deletedLocal += nodes
        case .deleteRemote: deletedRemote += nodes
        case .moveLocal: movedLocal += 1
        case .moveRemote: movedRemote += 1
        case .merge: merged += 1
        case .conflict: conflicts += 1
        case .makeLocalFolder, .makeRemoteFolder, .problem, .held, .progress, .paused, .idle, .summary: break
        }
    }
}

/// One event of a mirror's log.
public struct SyncLogEntry: Hashable, Sendable, Codable {
    /// Its number in the mirror's log, which grows.
    public var seq: Int64
    /// When, in seconds since 1970.
    @JSONMoment public var at: Int64
    /// The path relative to the mirror's root.
    public var path: String
    /// What happened, as ``SyncEvent/Kind`` names it.
    public var event: String
    /// The rule that decided.
    public var rule: String?
    /// One line for people.
    public var detail: String?

    /// Describes an event.
    public init(
        seq: Int64 = 0, at: Int64, path: String, event: String, rule: String? = nil, detail: String? = nil
    ) {
        self.seq = seq
        self.at = at
        self.path = path
        self.event = event
        self.rule = rule
        self.detail = detail
    }
}

/// Why syncing cannot go on.
public struct SyncError: Error, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: Hashable, Sendable {
        /// The mirror's directory does not exist.
        case rootMissing
        /// The directory is not the one that was synced before, or is on another disk.
        case rootReplaced
        /// The configuration makes no sense.
        case configuration
        /// The database cannot be used.
        case database
        /// Another process syncs this mirror.
        case alreadyRunning
        /// The server refused or could not be reached.
        case remote(RemoteError)
        /// The disk refused.
        case io
        /// The caller cancelled.
        case cancelled
    }

    /// What kind of failure it is.
    public let code: Code
    /// One line for people, with a way out.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }

    /// Whether the same call may succeed later without intervention.
    public var isRetryable: Bool {
        switch code {
        case .remote(let error): error.isRetryable
        case .io: true
        default: false
        }
    }
}
