/// How long to wait before something that has failed is tried again: twice as long each time, up to a limit.
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

    /// Of a file that somebody is writing.
    static let beingWritten = Backoff(first: .seconds(2), longest: .seconds(60))
    /// Of an item that the disk or the server refuses.
    static let refused = Backoff(first: .seconds(2), longest: .seconds(3_600))
    /// Of a call that fails in the middle of other work.
    static let call = Backoff(first: .milliseconds(100), longest: .seconds(30))
    /// Of a session that cannot go on, and of its wait for the server's changes.
    static let session = Backoff(first: .milliseconds(500), longest: .seconds(60))
}
