import Glibc

/// The progress of one transfer, or of all of a command, for a line about it.
struct ProgressState: Sendable {
    /// The name of the current transfer.
    var name: String
    /// The position among several transfers, from 1, in which case the counts are of all of them; nil for one alone.
    var place: (number: Int, of: Int)?
    /// Bytes the other side has.
    var completed: Int64
    /// Bytes that were sent beyond those.
    var inFlight: Int64 = 0
    /// Bytes in all; nil while unknown.
    var total: Int64?
    /// The completed share, 0 to 1, when the total bytes are unknown; nil when it is unknown as well.
    var share: Double?
    /// Bytes a second; nil while unknown.
    var bytesPerSecond: Double?
    /// Seconds since the transfer started.
    var elapsed = 0.0
    /// Seconds since a byte moved.
    var idle = 0.0

    /// Moved bytes, acknowledged or not.
    var moved: Int64 { max(completed, min(completed + inFlight, total ?? .max)) }

    /// The whole percent moved, 100 only when the other side has everything; nil while the total is unknown.
    var percent: Int? {
        guard let total else { return share.map { Int(min(99, max(0, $0 * 100))) } }
        if completed >= total { return 100 }
        return Int(min(99, max(0, Double(moved) * 100 / Double(total))))
    }

    /// Seconds left; nil without a useful estimate: before 2 s or 1 %, and while nothing moves.
    var secondsLeft: Int? {
        guard let total, let rate = bytesPerSecond, rate > 0, completed < total, elapsed >= 2,
            moved >= total / 100,
            !isStalled
        else { return nil }
        let left = Double(max(0, total - moved)) / rate
        return left < 360_000 ? max(1, Int(left.rounded(.up))) : nil
    }

    /// Whether nothing has moved for some time.
    var isStalled: Bool { idle >= 5 && completed < (total ?? .max) }
}

/// Estimates a rate as an average of counts whose weight halves every 15 seconds.
///
/// It reads no clock: times are parameters.
struct RateMeter: Hashable, Sendable {
    /// The age at which a measurement has half its weight.
    static let halfLife = 15.0

    private var lastTime: Double
    private var lastCount: Int64
    private var weighted = 0.0
    private var weight = 0.0
    private(set) var lastMove: Double

    /// Starts with a count at a time in seconds.
    init(time: Double, count: Int64) {
        lastTime = time
        lastCount = count
        lastMove = time
    }

    /// Adds a count; a smaller count, as after a retry, restarts the estimate.
    mutating func take(time: Double, count: Int64) {
        if count != lastCount { lastMove = time }
        let elapsed = time - lastTime
        guard elapsed > 0 else { return }
        let decay = exp2(-elapsed / Self.halfLife)
        if count >= lastCount {
            weighted = weighted * decay + Double(count - lastCount)
            weight = weight * decay + elapsed
        }
        lastTime = time
        lastCount = count
    }

    /// Bytes a second; nil before the first measurement.
    var bytesPerSecond: Double? { weight > 0 ? weighted / weight : nil }
}
