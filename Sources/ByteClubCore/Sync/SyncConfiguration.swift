/// What a mirror is and how it behaves.
public struct SyncConfiguration: Sendable {
    /// The mirror's root on disk, an absolute path or one relative to the working directory.
    public var directory: String
    /// Where the database lives; outside the mirror.
    public var stateDirectory: String
    /// The folder on the server that is mirrored.
    public var remoteRoot = (try? RemotePath("/byteclub")) ?? .root
    /// How many notes travel at once, 1 to 64; large files have three places of their own.
    public var parallelTransfers = 16
    /// When deletions are held.
    public var deleteGuard = DeleteGuard()
    /// Whether held deletions are carried out all the same.
    public var approvesDeletions = false
    /// How long one wait for the server's changes lasts, 30 to 480 s.
    public var longPollTimeout = Duration.seconds(300)
    /// How often the whole mirror is scanned while it is watched, for changes without an event.
    public var rescanInterval = Duration.seconds(900)
    /// Whether the server's extension for this engine is used where it has one; without it, Core API v1 has to do.
    public var usesExtension = true
    /// The name of the member whose mirror it is, for the names of conflict copies; nil when it is not known.
    public var memberName: String?
    /// Identifies the server, for example by its address: a cursor is valid for one server only.
    public var serverIdentity = ""
    /// How long the trash keeps replaced and deleted files, in days on which the mirror is synced, so that a wrong
    /// clock cannot empty it; 0 keeps them for ever.
    public var trashDays = 30
    /// The bytes on the disk that no download may use.
    public var diskReserve: Int64 = 64 << 20
    /// The most bytes a second that large files take on their way to the server, all together; nil for no limit.
    public var uploadLimit: Int?
    /// The most bytes a second that large files take on their way from the server, all together; nil for no limit.
    public var downloadLimit: Int?
    /// When they are transferred slower than that, or not at all, by this machine's clock and time zone.
    public var schedule = SyncSchedule()
    /// Whether the network is metered, now and after each change: while it is, a sync pauses and uses no network.
    ///
    /// An upload whose bytes the server has already is still completed, by one small request, so that they need not be
    /// sent again. Each call begins a stream, whose first element comes within seconds. Nil when the cost does not
    /// matter.
    public var networkIsMetered: (@Sendable () -> AsyncStream<Bool>)?
    /// In what time every file is read once while an engine runs, to find bytes that the disk has lost; zero for never.
    public var auditPeriod = Duration.seconds(30 * 86_400)

    /// Describes a mirror of the shared folder with default settings.
    public init(directory: String, stateDirectory: String) {
        self.directory = directory
        self.stateDirectory = stateDirectory
    }

    /// Whether neither a limit nor a schedule bounds the rate of large files.
    public var isUnlimited: Bool { uploadLimit == nil && downloadLimit == nil && schedule.spans.isEmpty }
}

/// When deletions are too many to be believed: more than both a number and a share of the mirror, or all of it.
///
/// Only deletions are held; everything else flows.
public struct DeleteGuard: Hashable, Sendable {
    /// The number of entries, files and folders, that may always go in one wave.
    public var nodes: Int
    /// The share of the synced entries, 0 to 1, that may always go in one wave.
    public var fraction: Double
    /// Whether deletions that would leave a mirror of two or more entries empty are held, however few.
    public var holdsEmptying: Bool

    /// Creates a guard; the default holds more than 20 entries and a quarter of the mirror.
    public init(nodes: Int = 20, fraction: Double = 0.25, holdsEmptying: Bool = true) {
        self.nodes = nodes
        self.fraction = fraction
        self.holdsEmptying = holdsEmptying
    }

    /// Whether so many deletions out of so many synced entries must wait for approval.
    public func holds(deletions: Int, of synced: Int) -> Bool {
        if deletions == 0 { return false }
        if holdsEmptying, synced >= 2, deletions >= synced { return true }
        return deletions > nodes && Double(deletions) > fraction * Double(synced)
    }
}

/// A rate as people type it: `500k`, `2M`, `1.5MiB`, `800` (bytes a second); units are 1024-based.
public struct ByteRate: Hashable, Sendable {
    /// Bytes a second, at least 1.
    public let bytesPerSecond: Int

    /// Reads a rate; nil when the text is none.
    public init?(_ text: String) {
        var text = text.lowercased()[...]
        for ending in ["/s", "ps"] where text.hasSuffix(ending) { text = text.dropLast(ending.count) }
        guard let bytes = HumanSize.read(String(text)) else { return nil }
        bytesPerSecond = Int(bytes)
    }
}
