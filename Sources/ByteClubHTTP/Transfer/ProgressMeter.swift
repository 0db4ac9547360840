/// Decides which of thousands of counter changes are worth telling, and smooths the rate.
struct ProgressMeter {
    private(set) var progress = TaskProgress()
    private var reported = Moment(nanoseconds: 0)
    private var reportedBytes: Int64 = 0

    private static let interval: Duration = .milliseconds(100)
    /// After so long without a byte the rate is none.
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

    /// Counts what was there before the response, without taking it for speed.
    mutating func skip(to received: Int64, expectedToReceive: Int64) {
        progress.bytesReceived = received
        progress.bytesExpectedToReceive = expectedToReceive
        reportedBytes += received
    }

    /// Takes new counters.
    ///
    /// True if they should be reported: 100 ms passed.
    mutating func update(sent: Int64, received: Int64, expectedToReceive: Int64, at now: Moment) -> Bool {
        progress.bytesSent = max(progress.bytesSent, sent)
        progress.bytesReceived = max(progress.bytesReceived, received)
        if expectedToReceive > 0 { progress.bytesExpectedToReceive = expectedToReceive }
        guard moved > 0, now >= reported.advanced(by: Self.interval) else { return false }
        report(at: now)
        return true
    }

    /// When there is something to report though no byte moves: counters that were withheld, or that the rate is none.
    var due: Moment {
        if moved > 0 { return reported.advanced(by: Self.interval) }
        let isStalling = reportedBytes > 0 && progress.bytesPerSecond > 0
        return isStalling ? reported.advanced(by: Self.stall) : .distantFuture
    }

    /// Takes note that it is ``due``; the progress should be reported then.
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
