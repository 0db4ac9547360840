public import ByteClubCore
public import Logging

/// What keeps a local directory and a folder on a server the same, as the commands see it.
///
/// It is handed to the program from outside, so that commands that need no mirror load no database.
public protocol MirrorEngine: Sendable {
    /// Prepares an engine; nothing is opened before it runs.
    ///
    /// - Throws: ``SyncError`` when the configuration makes no sense.
    init(configuration: SyncConfiguration, remote: any Remote, logger: Logger) throws(SyncError)

    /// What is known of a mirror; neither it nor the server is asked.
    static func status(of configuration: SyncConfiguration) throws(SyncError) -> SyncStatus

    /// What a sync would do by what is known and the disk shows now; the server is not asked and nothing is changed.
    static func waiting(of configuration: SyncConfiguration) throws(SyncError) -> SyncWaiting

    /// The newest events of a mirror's log, newest last, of one path and what is below it when that is given; with
    /// `after` only those behind the one of that number.
    static func log(
        of configuration: SyncConfiguration, below path: String?, after: Int64?, limit: Int
    ) throws(SyncError) -> [SyncLogEntry]

    /// Says of a path, relative to the mirror's root, what each side shows, what is to be done, and what is in the way.
    ///
    /// - Returns: One answer for each entry at the path; none when nobody knows it.
    static func explain(_ path: String, of configuration: SyncConfiguration) throws(SyncError) -> [SyncExplanation]

    /// The conflicts, the newest first; `all` has those as well that somebody has settled.
    static func conflicts(of configuration: SyncConfiguration, all: Bool) throws(SyncError) -> [SyncStatus.Conflict]

    /// Settles a conflict by the files in the mirror; what is not kept goes into the mirror's trash.
    static func resolve(
        _ conflict: SyncStatus.Conflict, keeping side: ConflictSide, of configuration: SyncConfiguration
    ) throws(SyncError)

    /// Gives the word that the held deletions wait for, and returns which they are, with those that were to come back from
    /// the server's history and stay deleted now.
    static func approveDeletions(of configuration: SyncConfiguration) throws(SyncError) -> [SyncStatus.HeldDeletion]

    /// Takes the held deletions back, with what the same wave had deleted on the server before, and returns which they
    /// were: what is gone on one side comes back from the other.
    static func restoreDeletions(of configuration: SyncConfiguration) throws(SyncError) -> [SyncStatus.HeldDeletion]

    /// Takes back what was changed in the mirror at a path and below it and is not on the server: what is new here or was
    /// edited goes into the mirror's trash.
    ///
    /// - Returns: The changes; a dry run only tells them.
    /// - Throws: ``SyncError`` with the code `alreadyRunning` while a sync of it runs.
    static func revert(
        _ path: String, of configuration: SyncConfiguration, isDryRun: Bool
    ) throws(SyncError) -> [LocalChange]

    /// Gives the word that held ignore rules wait for, and returns which they are; nil when none are held.
    static func approveRules(of configuration: SyncConfiguration) throws(SyncError) -> SyncStatus.HeldRules?

    /// Puts the ignore file back that holds instead of those, and returns which they were; nil when none were held.
    static func restoreRules(of configuration: SyncConfiguration) throws(SyncError) -> SyncStatus.HeldRules?

    /// Pauses a mirror for a time, or until somebody resumes it; an engine that runs finishes what it is about.
    static func pause(_ configuration: SyncConfiguration, for time: Duration?) throws(SyncError)

    /// Ends a pause, and returns whether there was one; an engine that runs goes on at once.
    static func resume(_ configuration: SyncConfiguration) throws(SyncError) -> Bool

    /// Takes a folder, relative to the mirror's root, into the mirror again.
    static func select(_ path: String, of configuration: SyncConfiguration) throws(SyncError)

    /// Leaves a folder, relative to the mirror's root, out of the mirror.
    static func deselect(_ path: String, of configuration: SyncConfiguration) throws(SyncError)

    /// The folders that are left out, as keys relative to the mirror's root.
    static func deselected(of configuration: SyncConfiguration) throws(SyncError) -> [String]

    /// The identity of the mirror whose root a directory is; nil when it is none.
    static func marker(in directory: String) -> String?

    /// What tells a directory from every other one, its copies included, wherever it is moved on its disk; nil when it
    /// cannot be told.
    static func handle(of directory: String) -> String?

    /// The identity that a mirror's database knows its root by; nil before the first sync.
    static func identity(of configuration: SyncConfiguration) throws(SyncError) -> String?

    /// Makes a mirror an ordinary directory and removes its state; its files stay as they are.
    ///
    /// - Returns: Whether its trash is kept, because something is in it.
    /// - Throws: ``SyncError`` with the code `alreadyRunning` while a sync of it runs.
    static func unlink(_ configuration: SyncConfiguration) throws(SyncError) -> Bool

    /// What happens while ``run()`` runs; a slow reader may miss events.
    var events: AsyncStream<SyncEvent> { get }

    /// Syncs until mirror and server agree, or only what must wait is left; `onEvent` is called from any thread.
    ///
    /// - Throws: ``SyncError``; whatever was done until then stays done.
    func runOnce(_ onEvent: @escaping @Sendable (SyncEvent) -> Void) async throws(SyncError) -> SyncSummary

    /// Syncs whenever either side changes, and returns when the task is cancelled, with all in order.
    ///
    /// - Throws: ``SyncError`` for what only a person can mend.
    func run() async throws

    /// Compares every file of the mirror with what the server has, and changes nothing; `progress` is told the files
    /// and bytes compared so far.
    func verify(
        progress: (_ files: Int, _ bytes: Int64) -> Void
    ) async throws(SyncError) -> SyncVerification

    /// What ``runOnce(_:)`` would do first, as the events that it would tell; changes nothing.
    func plan() async throws(SyncError) -> [SyncEvent]
}
