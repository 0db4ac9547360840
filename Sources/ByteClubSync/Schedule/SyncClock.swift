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
