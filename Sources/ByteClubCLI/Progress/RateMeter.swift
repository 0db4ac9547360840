import Glibc

/// Estimates a rate from counts at moments: an average in which what is older weighs less, by half every 15 seconds.
///
/// It reads no clock: each call is told the time.
struct RateMeter: Hashable, Sendable {
    /// The age at which a measurement counts half.
    static let halfLife = 15.0

    private var lastTime: Double
    private var lastCount: Int64
    private var weighted = 0.0
    private var weight = 0.0
    private(set) var lastMove: Double

    /// Starts at a moment, in seconds, with a count.
    init(time: Double, count: Int64) {
        lastTime = time
        lastCount = count
        lastMove = time
    }

    /// Takes a count at a moment; counts that shrink, as after a retry, start anew.
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

    /// Bytes a second; nil before anything was measured.
    var bytesPerSecond: Double? { weight > 0 ? weighted / weight : nil }
}
