/// Decides which of thousands of counter changes are worth telling, and smooths the rate.
struct ProgressMeter {
    private(set) var progress = TaskProgress()
    private var told = Moment(nanoseconds: 0)
    private var toldBytes: Int64 = 0

    /// Starts over for a new attempt; the rate is kept.
    mutating func begin(attempt: Int, expectedToSend: Int64, at now: Moment) {
        let rate = progress.bytesPerSecond
        progress = TaskProgress()
        progress.attempt = attempt
        progress.bytesExpectedToSend = expectedToSend
        progress.bytesPerSecond = rate
        told = now
        toldBytes = 0
    }

    /// Takes new counters.
    ///
    /// True if they should be told: 100 ms passed, or 1 % moved and 10 ms passed.
    mutating func update(sent: Int64, received: Int64, expectedToReceive: Int64, at now: Moment) -> Bool {
        progress.bytesSent = max(progress.bytesSent, sent)
        progress.bytesReceived = max(progress.bytesReceived, received)
        if expectedToReceive > 0 { progress.bytesExpectedToReceive = expectedToReceive }
        let moved = progress.bytesSent + progress.bytesReceived - toldBytes
        let passed = now.nanoseconds - told.nanoseconds
        guard moved > 0, passed >= 10_000_000 else { return false }
        let expected = max(progress.bytesExpectedToSend, progress.bytesExpectedToReceive)
        guard passed >= 100_000_000 || (expected > 0 && moved >= expected / 100) else { return false }
        tell(moved: moved, passed: passed, at: now)
        return true
    }

    /// The last counters of a task.
    mutating func finish(at now: Moment) -> TaskProgress {
        let moved = progress.bytesSent + progress.bytesReceived - toldBytes
        let passed = now.nanoseconds - told.nanoseconds
        if moved > 0, passed > 0 { tell(moved: moved, passed: passed, at: now) }
        return progress
    }

    private mutating func tell(moved: Int64, passed: Int64, at now: Moment) {
        let seconds = Double(passed) / 1e9
        let rate = Double(moved) / seconds
        let weight = progress.bytesPerSecond == 0 ? 1 : min(seconds / (seconds + 1) * 2, 1)
        progress.bytesPerSecond += (rate - progress.bytesPerSecond) * weight
        told = now
        toldBytes = progress.bytesSent + progress.bytesReceived
    }
}
