/// Exponential backoff: the wait doubles with each failure, up to a limit.
struct Backoff: Hashable, Sendable {
    /// The wait after the first failure.
    let first: Duration
    /// The longest wait.
    let longest: Duration

    /// The wait after so many failures in a row, at least one.
    func delay(after failures: Int) -> Duration {
        let doublings = min(max(failures, 1) - 1, 30)
        return min(first * (1 << doublings), longest)
    }

    /// For a file that is being written.
    static let beingWritten = Backoff(first: .seconds(2), longest: .seconds(60))
    /// For an item that the disk or the server refuses.
    static let refused = Backoff(first: .seconds(2), longest: .seconds(3_600))
    /// For a call that fails in the middle of other work.
    static let call = Backoff(first: .milliseconds(100), longest: .seconds(30))
    /// For a session that cannot continue, and for its long poll.
    static let session = Backoff(first: .milliseconds(500), longest: .seconds(60))
}
