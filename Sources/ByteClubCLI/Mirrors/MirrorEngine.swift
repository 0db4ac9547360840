public import ByteClubCore

/// An engine that syncs a local directory with a folder on a server, as commands use it.
///
/// The program injects it, so that commands without a mirror do not load a database.
public protocol MirrorEngine: Sendable {
    /// Creates an engine; it opens nothing before it runs.
    ///
    /// - Throws: ``SyncError`` for an invalid configuration.
    init(configuration: SyncConfiguration, remote: any Remote) throws(SyncError)

    /// The recorded state of a mirror, read without access to its files or the server.
    static func status(of configuration: SyncConfiguration) throws(SyncError) -> SyncStatus

    /// The changes that a sync would make by the recorded state and the disk; read-only and without the server.
    static func waiting(of configuration: SyncConfiguration) throws(SyncError) -> SyncWaiting

    /// The newest events of a mirror's log, newest last; with `path` only those of it and everything below it, with
    /// `after` only those with a higher number.
    static func log(
        of configuration: SyncConfiguration, below path: String?, after: Int64?, limit: Int
    ) throws(SyncError) -> [SyncLogEntry]

    /// Explains a path relative to the mirror's root: its state on both sides, pending work, and obstacles.
    ///
    /// - Returns: One explanation per entry at the path; none for an unknown path.
    static func explain(_ path: String, of configuration: SyncConfiguration) throws(SyncError) -> [SyncExplanation]

    /// The conflicts, newest first; with `all` also the resolved ones.
    static func conflicts(of configuration: SyncConfiguration, all: Bool) throws(SyncError) -> [SyncStatus.Conflict]

    /// Resolves a conflict with the files in the mirror; discarded files are moved to the mirror's trash.
    static func resolve(
        _ conflict: SyncStatus.Conflict, keeping side: ConflictSide, of configuration: SyncConfiguration
    ) throws(SyncError)

    /// Approves the held deletions and returns them, with those that were to be restored from the server's history and
    /// now remain deleted.
    static func approveDeletions(of configuration: SyncConfiguration) throws(SyncError) -> [SyncStatus.HeldDeletion]

    /// Reverts the held deletions and returns them: entries deleted on one side are restored from the other, also those
    /// that the same wave had already deleted on the server.
    static func restoreDeletions(of configuration: SyncConfiguration) throws(SyncError) -> [SyncStatus.HeldDeletion]

    /// Reverts local changes at a path and below it that are not on the server; new and edited files are moved to the
    /// mirror's trash.
    ///
    /// - Returns: The changes; a dry run only lists them.
    /// - Throws: ``SyncError`` with the code `alreadyRunning` while a sync of the mirror runs.
    static func revert(
        _ path: String, of configuration: SyncConfiguration, isDryRun: Bool
    ) throws(SyncError) -> [LocalChange]

    /// Approves held ignore rules and returns them; nil when none are held.
    static func approveRules(of configuration: SyncConfiguration) throws(SyncError) -> SyncStatus.HeldRules?

    /// Replaces held ignore rules by the ones in force and returns them; nil when none were held.
    static func restoreRules(of configuration: SyncConfiguration) throws(SyncError) -> SyncStatus.HeldRules?

    /// Pauses a mirror for a time, or until it is resumed; a running engine finishes the work in progress.
    static func pause(_ configuration: SyncConfiguration, for time: Duration?) throws(SyncError)

    /// Ends a pause, and returns whether there was one; a running engine resumes at once.
    static func resume(_ configuration: SyncConfiguration) throws(SyncError) -> Bool

    /// Includes a folder, relative to the mirror's root, in the mirror again.
    static func select(_ path: String, of configuration: SyncConfiguration) throws(SyncError)

    /// Excludes a folder, relative to the mirror's root.
    static func deselect(_ path: String, of configuration: SyncConfiguration) throws(SyncError)

    /// The excluded folders, as keys relative to the mirror's root.
    static func deselected(of configuration: SyncConfiguration) throws(SyncError) -> [String]

    /// The identity of the mirror with a root directory; nil for another directory.
    static func marker(in directory: String) -> String?

    /// An identifier of a directory that survives moves on its disk and that no copy shares; nil when unsupported.
    static func handle(of directory: String) -> String?

    /// The identity of the root in a mirror's database; nil before the first sync.
    static func identity(of configuration: SyncConfiguration) throws(SyncError) -> String?

    /// Turns a mirror into an ordinary directory and removes its state; its files remain.
    ///
    /// - Returns: Whether its trash is kept because it is not empty.
    /// - Throws: ``SyncError`` with the code `alreadyRunning` while a sync of the mirror runs.
    static func unlink(_ configuration: SyncConfiguration) throws(SyncError) -> Bool

    /// The events of ``run()``; a slow reader may miss some.
    var events: AsyncStream<SyncEvent> { get }

    /// Syncs until mirror and server agree, except for held work; `onEvent` is called from any thread.
    ///
    /// - Throws: ``SyncError``; work done so far is kept.
    func runOnce(_ onEvent: @escaping @Sendable (SyncEvent) -> Void) async throws(SyncError) -> SyncSummary

    /// Syncs whenever either side changes, and returns in good order when the task is cancelled.
    ///
    /// - Throws: ``SyncError`` for problems that only the user can fix.
    func run() async throws

    /// Compares every file of the mirror with the server, and changes nothing; `progress` receives the files and bytes
    /// compared so far.
    func verify(
        progress: (_ files: Int, _ bytes: Int64) -> Void
    ) async throws(SyncError) -> SyncVerification

    /// The first steps of ``runOnce(_:)``, as events; changes nothing.
    func plan() async throws(SyncError) -> [SyncEvent]
}
