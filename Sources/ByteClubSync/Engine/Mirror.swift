import ByteClubCore
import Glibc

/// One mirror and all that its engine knows of it, worked on by one piece of work at a time.
actor Mirror {
    let configuration: SyncConfiguration
    let remote: any Remote
    let surroundings: Surroundings
    let tally: Tally
    let store: any TreeStore
    let root: any DiskFolder
    let area: PrivateArea?
    let scanner: Scanner
    /// Whether folders are watched as they are looked at: then new ones are looked at once they are there.
    let isWatching: Bool

    /// What the server can do; nil before it was asked.
    var features: RemoteFeatures?
    /// Contents that came along with the feed and are not on the disk yet.
    var arrivals = Arrivals()
    /// Folders that are not as the tree says and are looked at again before the next plan.
    var suspects: Set<ItemID> = []
    /// Whether the server is not as the tree says, so that its feed is read before the next plan.
    var isFeedStale = true
    /// Files that somebody is writing, and when they are tried again.
    var busy: [ItemID: Postponement] = [:]
    /// How often in a row the server or the disk refused something about an item.
    var refusals: [ItemID: Int] = [:]
    /// Deletions of the last time, so that many small ones count like one large one.
    var recentDeletions: [(at: Duration, count: Int)] = []
    /// Transfers of large files that go on beside the rounds.
    var transfers: [ItemID: Task<Void, Never>] = [:]
    /// How many bytes of each have travelled, as far as that is known.
    var travelled: [ItemID: Int64] = [:]
    /// Large files for which there is no place among the transfers now.
    var queued: Set<ItemID> = []
    /// Those who wait for the end of one of them.
    var transferWaiters: [CheckedContinuation<Void, Never>] = []
    /// How many have ended with a file in its place.
    var transferred = 0
    /// What ends the whole sync, found while something else went on.
    var transferFailure: (any Error)?
    /// How the server has broken the protocol about single entries, first of all; nil when it has not.
    var breach: RemoteError?
    /// Whether a call that moves an entry had no answer: without identities, paths mean nothing until the feed tells.
    var hasUnansweredMove = false
    /// Whether the journal has told a part of what it has to tell.
    var isFeedOpen = false
    /// Whether a call has written since the feed was last asked.
    var hasWrittenSinceFeed = false
    /// Told when a transfer ends.
    var onTransferEnd: (@Sendable () -> Void)?
    /// Many new files that are being written beside other work.
    var landing: Landing?
    /// New files in their places that are not known to be durable there yet.
    var landed: [Received] = []
    /// Open folders, by their items.
    var openFolders: [ItemID: any DiskFolder] = [:]
    /// Folders that would not go although the tree knows nothing in them, and were looked at for that.
    var hasLooked: Set<ItemID> = []
    /// Where entries were on the server before they were moved or deleted, for those who are told.
    var pathsBefore: [ItemID: String] = [:]
    /// The rules that decided last.
    var decided: [ItemID: Rule] = [:]
    /// Whether entries are missing on the disk that may turn up elsewhere.
    var hasUnconfirmed = false
    /// Those entries; nothing is decided about them, nor about who wants their names.
    var unconfirmed: Set<ItemID> = []
    /// Folders that changed within the last moments before the last look.
    var restless: Set<ItemID> = []
    /// Contents that are about to come into their places.
    var arriving: [ItemID: Arriving] = [:]
    /// The ignore file whose rules hold.
    var ignoreFile = IgnoreFile.none
    /// Rules that wait for somebody's word.
    var heldRules: HeldRules?
    /// What the rules leave out, as of the last look at everything; nil when that is to be counted.
    var ignored: SyncStatus.Ignored?
    /// Where the files stand that gave their names to other contents, which are as closed to others as those were.
    var parted: [ItemID: Place] = [:]
    /// Whether a failure has left something in staging that is to be classified.
    var isStagingUnclear = false
    /// Since when deletions are put off until the disk is quiet; nil when none are.
    var sparedSince: Duration?
    /// Folders that are to be left out as soon as the server has everything in them.
    var leaving: [PathKey] = []
    /// Whether deletions were put off until the disk is quiet.
    var hasSpared = false
    /// How many deletions the guard holds.
    var heldCount = 0
    /// Files whose writers may still hold them open, by their place in the trash.
    var displaced: [DisplacedFile] = []
    /// When they were looked at last.
    var lastLateLook: Duration?
    /// How far the audit is; nil before it was asked for.
    var audited: AuditProgress?
    /// Large files that the schedule does not let travel now.
    var scheduled: Set<ItemID> = []
    /// When the trash was last looked at for what is too old.
    var lastTrashLook: Duration?
    /// The date under which something was put into the trash since then; nil before the first.
    var lastTrashDate: String?
    /// The server's name for the mirrored folder; nil when it is not there, or the server has no identities.
    var rootNode: NodeID?
    private let executor: any SerialExecutor
    private let session: String
    private var operationCount = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Opens a mirror; a `rehearsal` changes nothing in it.
    init(
        _ configuration: SyncConfiguration, _ remote: any Remote, _ surroundings: Surroundings, _ tally: Tally,
        isRehearsal: Bool = false,
        watch: (@Sendable (_ folder: any DiskFolder, _ item: ItemID, _ isNew: Bool) -> Void)? = nil
    ) throws {
        self.configuration = configuration
        self.remote = remote
        self.surroundings = surroundings
        self.tally = tally
        executor = surroundings.executor
        let store = try surroundings.openStore()
        self.store = store
        let root: any DiskFolder
        do {
            root = try Self.openRoot(configuration, surroundings.disk)
            try Self.checkMarker(root, store, configuration)
        } catch {
            let now = surroundings.disk.now() / 1_000_000_000
            if !isRehearsal { try? Self.note(obstacle: SyncError.wrapping(error), in: store, at: now) }
            throw error
        }
        self.root = root
        area = isRehearsal ? nil : try PrivateArea(in: root)
        let mirrorID = try Self.identify(root, area, store, surroundings.disk)
        session = mirrorID.prefix(8) + "-" + String(UInt64(bitPattern: surroundings.disk.now()), radix: 16)
        scanner = Scanner(root: root, store: store, watch: watch ?? { _, _, _ in })
        isWatching = watch != nil
        rootNode =
            try configuration.remoteRoot.isRoot ? .root : store.meta(.rootNode).flatMap { Int64($0) }.map(NodeID.init)
    }

    /// A name for a write that no other write has.
    func newOperation() throws -> OperationID {
        operationCount += 1
        let digits = String(operationCount)
        let number = String(repeating: "0", count: max(0, 8 - digits.count)) + digits
        guard let id = OperationID(session + "-" + number) else {
            throw SyncError(.database, "the mirror's identity in the database is damaged")
        }
        return id
    }

    /// The time of day in seconds since 1970.
    var seconds: Int64 { surroundings.disk.now() / 1_000_000_000 }

    /// Closes the database.
    func close() throws {
        for task in transfers.values { task.cancel() }
        try store.setMeta(.isOpen, nil)
        try store.setMeta(.watching, nil)
        try store.close()
    }
}

/// A file that is tried again later, at longer and longer intervals.
struct Postponement: Sendable {
    var until: Duration
    var delay: Duration
}
