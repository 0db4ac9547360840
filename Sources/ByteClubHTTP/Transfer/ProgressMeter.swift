/// Decides which of thousands of counter changes to report, and smooths the rate.
struct ProgressMeter {
    private(set) var progress = TaskProgress()
    private var reported = Moment(nanoseconds: 0)
    private var reportedBytes: Int64 = 0

    private static let interval: Duration = .milliseconds(100)
    /// The time without a byte after which the rate is zero.
    private static let stall: Duration = .seconds(2)

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

    /// Counts bytes that existed before the response, without including them in the rate.
    mutating func skip(to received: Int64, expectedToReceive: Int64) {
        progress.bytesReceived = received
        progress.bytesExpectedToReceive = expectedToReceive
        reportedBytes += received
    }

    /// Updates the counters; true if they should be reported, since 100 ms have passed.
    mutating func update(sent: Int64, received: Int64, expectedToReceive: Int64, at now: Moment) -> Bool {
        progress.bytesSent = max(progress.bytesSent, sent)
        progress.bytesReceived = max(progress.bytesReceived, received)
        if expectedToReceive > 0 { progress.bytesExpectedToReceive = expectedToReceive }
        guard moved > 0, now >= reported.advanced(by: Self.interval) else { return false }
        report(at: now)
        return true
    }

    /// When a report is due although no byte moves: for counters that were withheld, or a rate that drops to zero.
    var due: Moment {
        if moved > 0 { return reported.advanced(by: Self.interval) }
        let isStalling = reportedBytes > 0 && progress.bytesPerSecond > 0
        return isStalling ? reported.advanced(by: Self.stall) : .distantFuture
    }

    /// Handles a ``due`` report; the caller publishes the progress.
    mutating func takeDue(at now: Moment) {
        if moved > 0 { report(at: now) } else { progress.bytesPerSecond = 0 }
    }

    /// The last counters of a task.
    mutating func finish(at now: Moment) -> TaskProgress {
        if moved > 0, now > reported { report(at: now) }
        return progress
    }

    /// How many bytes moved since the last report.
    private var moved: Int64 { progress.bytesSent + progress.bytesReceived - reportedBytes }

    private mutating func report(at now: Moment) {
        let seconds = Double(now.nanoseconds - reported.nanoseconds) / 1e9
        let rate = Double(moved) / seconds
        let weight = progress.bytesPerSecond == 0 ? 1 : min(seconds / (seconds + 1) * 2, 1)
        progress.bytesPerSecond += (rate - progress.bytesPerSecond) * weight
        reported = now
        reportedBytes = progress.bytesSent + progress.bytesReceived
    }
}
