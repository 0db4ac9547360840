/// Decides which of thousands of counter changes are worth telling, and smooths the rate.
struct ProgressMeter {
    private(set) var progress = TaskProgress()
    private var reported = Moment(nanoseconds: 0)
    private var reportedBytes: Int64 = 0

    /// Starts over for a new attempt; the rate is kept.
    mutating func begin(attempt: Int, expectedToSend: Int64, at now: Moment) {
        let rate = progress.bytesPerSecond
        progress = TaskProgress()
        progress.attempt = attempt
        progress.bytesExpectedToSend = expectedToSend
        progress.bytesPerSecond = rate
        reported = now
        reportedBytes = 0
    }

    /// Counts what was there before the response, without taking it for speed.
    mutating func skip(to received: Int64, expectedToReceive: Int64) {
        progress.bytesReceived = received
        progress.bytesExpectedToReceive = expectedToReceive
        reportedBytes += received
    }

    /// Takes new counters.
    ///
    /// True if they should be reported: 100 ms passed, or 1 % moved and 10 ms passed.
    mutating func update(sent: Int64, received: Int64, expectedToReceive: Int64, at now: Moment) -> Bool {
        progress.bytesSent = max(progress.bytesSent, sent)
        progress.bytesReceived = max(progress.bytesReceived, received)
        if expectedToReceive > 0 { progress.bytesExpectedToReceive = expectedToReceive }
        let moved = progress.bytesSent + progress.bytesReceived - reportedBytes
        let passed = now.nanoseconds - reported.nanoseconds
        guard moved > 0, passed >= 10_000_000 else { return false }
        let expected = max(progress.bytesExpectedToSend, progress.bytesExpectedToReceive)
        guard passed >= 100_000_000 || (expected > 0 && moved >= expected / 100) else { return false }
        report(moved: moved, passed: passed, at: now)
        return true
    }

    /// The last counters of a task.
    mutating func finish(at now: Moment) -> TaskProgress {
        let moved = progress.bytesSent + progress.bytesReceived - reportedBytes
        let passed = now.nanoseconds - reported.nanoseconds
        if moved > 0, passed > 0 { report(moved: moved, passed: passed, at: now) }
        return progress
    }

    private mutating func report(moved: Int64, passed: Int64, at now: Moment) {
        let seconds = Double(passed) / 1e9
        let rate = Double(moved) / seconds
        let weight = progress.bytesPerSecond == 0 ? 1 : min(seconds / (seconds + 1) * 2, 1)
        progress.bytesPerSecond += (rate - progress.bytesPerSecond) * weight
        reported = now
        reportedBytes = progress.bytesSent + progress.bytesReceived
    }
}
