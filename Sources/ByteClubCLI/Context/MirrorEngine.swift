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

    /// What ``runOnce(_:)`` would do first; changes nothing.
    func plan() async throws(SyncError) -> [Step]
}
