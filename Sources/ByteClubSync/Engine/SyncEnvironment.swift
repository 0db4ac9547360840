import ByteClubCore

/// An instant of a session's monotonic clock; it has no relation to the time of day.
struct SyncInstant: Hashable, Comparable, Sendable {
    /// The time since the clock was started.
    let sinceStart: Duration

    static func < (left: SyncInstant, right: SyncInstant) -> Bool { left.sinceStart < right.sinceStart }
    static func + (instant: SyncInstant, time: Duration) -> SyncInstant {
        SyncInstant(sinceStart: instant.sinceStart + time)
    }
    static func - (left: SyncInstant, right: SyncInstant) -> Duration { left.sinceStart - right.sinceStart }
}

/// A session's clock; tests use a manual one.
protocol SyncClock: Sendable {
    /// Now.
    var now: SyncInstant { get }
    /// Waits until a moment.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    func sleep(until deadline: SyncInstant) async throws
}

/// The system's monotonic clock.
struct MonotonicClock: SyncClock {
    private let start = ContinuousClock.now

    var now: SyncInstant { SyncInstant(sinceStart: ContinuousClock.now - start) }

    func sleep(until deadline: SyncInstant) async throws {
        try await Task.sleep(until: start + deadline.sinceStart, clock: .continuous)
    }
}

/// All of the outside world that a session uses, except the server; a simulation replaces it.
struct SyncEnvironment: Sendable {
    /// The file system under the mirror.
    var disk: any Disk
    /// Opens the database; called once, where the session runs.
    var openStore: @Sendable () throws -> any TreeStore
    /// Runs the session's own work, one piece at a time.
    var executor: any SerialExecutor
    /// Runs background work, which may block; nil for the system's threads.
    var workers: (any TaskExecutor)?
    /// The session's time.
    var clock: any SyncClock
    /// Up to how many bytes a file travels with others in a group, as photos do; larger ones travel by themselves.
    var groupedBytes = ChunkManifest.maximumChunkBytes
}

extension SyncEnvironment {
    /// The environment of the real machine, with a scratch copy of the database when nothing is to be changed.
    init(_ configuration: SyncConfiguration, onCopy: Bool = false) throws {
        let path = configuration.databasePath
        self.init(
            disk: LinuxDisk(configuration.directory),
            openStore: { onCopy ? try SQLiteTreeStore.scratchCopy(path: path) : try SQLiteTreeStore(path: path) },
            executor: try ThreadExecutor(),
            workers: try WorkerThreads(),
            clock: MonotonicClock())
    }
}
