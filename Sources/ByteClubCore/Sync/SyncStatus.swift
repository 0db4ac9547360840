/// What a mirror's database knows, read without touching mirror or server.
public struct SyncStatus: Hashable, Sendable, Codable {
    /// A path that is left alone, and why.
    public struct Problem: Hashable, Sendable, Codable {
        /// The path relative to the mirror's root.
        public var path: String
        /// One line for people.
        public var message: String

        /// Describes a path that is left alone.
        public init(path: String, message: String) {
            self.path = path
            self.message = message
        }
    }

    /// A deletion that waits for approval.
    public struct HeldDeletion: Hashable, Sendable, Codable {
        /// The path relative to the mirror's root.
        public var path: String
        /// Where it would be deleted: `local` or `remote`.
        public var side: String
        /// When it was first held, in seconds since 1970.
        @JSONMoment public var since: Int64
        /// True when it had been carried out before others of its kind were held; else nil.
        public var isDone: Bool?

        /// Describes a deletion that waits.
        public init(path: String, side: String, since: Int64, isDone: Bool? = nil) {
            self.path = path
            self.side = side
            self.since = since
            self.isDone = isDone
        }
    }

    /// New ignore rules that came from the server and wait for approval; those before them hold.
    public struct HeldRules: Hashable, Sendable, Codable {
        /// How many entries that are in sync they would leave out.
        public var entries: Int
        /// How many entries were in sync when they came.
        public var synced: Int
        /// When they were first held, in seconds since 1970.
        @JSONMoment public var since: Int64

        /// Describes rules that wait.
        public init(entries: Int, synced: Int, since: Int64) {
            self.entries = entries
            self.synced = synced
            self.since = since
        }
    }

    /// How many entries the ignore rules leave out.
    public struct Ignored: Hashable, Sendable, Codable {
        /// Entries on disk; a folder counts once, whatever is in it.
        public var disk: Int
        /// Entries on the server, with all that is in a folder.
        public var server: Int

        /// Counts entries.
        public init(disk: Int = 0, server: Int = 0) {
            self.disk = disk
            self.server = server
        }
    }

    /// A conflict copy that was made.
    public struct Conflict: Hashable, Sendable, Codable {
        /// The entry's path relative to the mirror's root.
        public var path: String
        /// The copy's path.
        public var copy: String
        /// When it was made, in seconds since 1970.
        @JSONMoment public var at: Int64
        /// Whether a person has settled it.
        public var isResolved: Bool
        /// Whether it arose on another machine: then the copy is another's, and what has the name may be this one's.
        public var isElsewhere: Bool
        /// The path of the entry that has the name in another spelling, which the server does not tell from `path`; nil
        /// when the spelling is the same.
        public var holder: String?
        /// The author of the content in the copy, from the copy's name; nil when the name has none.
        public var member: String?

        /// Describes a copy.
        public init(
            path: String, copy: String, at: Int64, isResolved: Bool = false, isElsewhere: Bool = false,
            holder: String? = nil
        ) {
            self.path = path
            self.copy = copy
            self.at = at
            self.isResolved = isResolved
            self.isElsewhere = isElsewhere
            self.holder = holder
            member = ConflictName.author(of: copy.split(separator: "/").last.map(String.init) ?? copy)
        }

        /// The path of the entry that has the name, as it is spelled now.
        public var entry: String { holder ?? path }
    }

    /// What keeps a whole mirror from being synced.
    public struct Obstacle: Hashable, Sendable, Codable {
        /// Since when, in seconds since 1970.
        @JSONMoment public var since: Int64
        /// One line for people.
        public var message: String

        /// Describes an obstacle.
        public init(since: Int64, message: String) {
            self.since = since
            self.message = message
        }
    }

    /// Whether the mirror has a database at all.
    public var isKnown = false
    /// Files that are in sync or were.
    public var files = 0
    /// Folders that are in sync or were.
    public var folders = 0
    /// The bytes of those files.
    public var bytes: Int64 = 0
    /// Entries for which something is still to be done.
    public var pending = 0
    /// When a sync last ended with mirror and server in agreement, in seconds since 1970; nil when never.
    @OptionalJSONMoment public var lastSync: Int64? = nil
    /// Whether a sync is under way now, in whichever process.
    public var isRunning = false
    /// Whether syncing is paused.
    public var isPaused = false
    /// The end of the pause in seconds since 1970; nil when only a person can end it.
    @OptionalJSONMoment public var pausedUntil: Int64? = nil
    /// Whether the sync that runs waits for an unmetered network.
    public var waitsForUnmetered = false
    /// What keeps the whole mirror from being synced.
    public var obstacle: Obstacle?
    /// Why changes on disk are noticed later than they might be; nil when they are noticed at once.
    public var watching: String?
    /// Paths left alone.
    public var problems: [Problem] = []
    /// Deletions held by the guard.
    public var held: [HeldDeletion] = []
    /// New ignore rules that are held like deletions; nil when there are none.
    public var heldRules: HeldRules?
    /// What the ignore rules leave out.
    public var ignored = Ignored()
    /// Unsettled conflicts, the newest first.
    public var conflicts: [Conflict] = []

    /// Creates the status of a mirror that was never synced.
    public init() {}
}

/// The operations of a paused mirror if it resumed now: by the server's state as last seen, and the disk's of now.
public struct SyncWaiting: Hashable, Sendable, Codable {
    /// Files to send, of which some may turn out to be equal on both sides.
    public var uploads = 0
    /// Their bytes.
    public var uploadBytes: Int64 = 0
    /// Files to fetch.
    public var downloads = 0
    /// Their bytes.
    public var downloadBytes: Int64 = 0
    /// All else: folders, renames, deletions, and files that were edited on both sides.
    public var others = 0

    /// Nothing waits.
    public init() {}
}
