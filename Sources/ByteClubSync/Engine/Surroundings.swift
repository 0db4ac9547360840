import ByteClubCore

/// All that an engine meets of the world beside the server, so that a simulation can be the world.
struct Surroundings: Sendable {
    /// The file system under the mirror.
    var disk: any Disk
    /// Opens the database; called once, where the engine runs.
    var openStore: @Sendable () throws -> any TreeStore
    /// Keeps earlier contents of notes.
    var bases: any BaseStore
    /// Runs the engine's own work, one piece at a time.
    var executor: any SerialExecutor
    /// Runs what goes on beside that; nil for the system's threads.
    var workers: (any TaskExecutor)?
    /// Time since some moment, never set back.
    var uptime: @Sendable () -> Duration
    /// Waits for a time; ends early with an error when the task is cancelled.
    var sleep: @Sendable (Duration) async throws -> Void
}

/// Where contents of notes are kept that both sides had once: the bases of merges.
///
/// A cache: what it loses, the server's history may have, and without either both texts are kept side by side.
protocol BaseStore: Sendable {
    /// Keeps a content for as long as there is room.
    func keep(_ bytes: [UInt8], _ hash: ContentHash)
    /// A content that was kept, checked against its hash; nil when it is not there any more.
    func content(_ hash: ContentHash) -> [UInt8]?
}
