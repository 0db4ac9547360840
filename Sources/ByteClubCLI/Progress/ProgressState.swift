/// How far one transfer has come, with all that a line about it tells.
struct ProgressState: Sendable {
    /// What is transferred.
    var name: String
    /// Which of several transfers this is, from 1; nil when there is one only.
    var place: (number: Int, of: Int)?
    /// Bytes the other side has.
    var completed: Int64
    /// Bytes that were sent beyond those.
    var inFlight: Int64 = 0
    /// Bytes in all; nil while unknown.
    var total: Int64?
    /// The whole percent done of all transfers; nil when there is one only.
    var overall: Int?
    /// Bytes a second; nil while unknown.
    var bytesPerSecond: Double?
    /// Seconds since the transfer started.
    var elapsed: Double
    /// Seconds since a byte moved.
    var idle: Double

    init(
        name: String, place: (number: Int, of: Int)? = nil, completed: Int64, inFlight: Int64 = 0, total: Int64?,
        bytesPerSecond: Double? = nil, elapsed: Double = 0, idle: Double = 0
    ) {
        self.name = name
        self.place = place
        self.completed = completed
        self.inFlight = inFlight
        self.total = total
        self.bytesPerSecond = bytesPerSecond
        self.elapsed = elapsed
        self.idle = idle
    }

    /// The whole percent done; nil while the total is unknown.
    var percent: Int? {
        guard let total, total > 0 else { return total == 0 ? 100 : nil }
        return Int(min(100, max(0, Double(completed) * 100 / Double(total))))
    }

    /// Seconds left; nil when nothing sensible can be said: before 2 s or 1 %, and while nothing moves.
    var secondsLeft: Int? {
        guard let total, let rate = bytesPerSecond, rate > 0, completed < total, elapsed >= 2,
            completed + inFlight >= total / 100,
            !isStalled
        else { return nil }
        let left = Double(max(0, total - completed)) / rate
        return left < 360_000 ? max(1, Int(left.rounded(.up))) : nil
    }

    /// Whether nothing has moved for some time.
    var isStalled: Bool { idle >= 5 && completed < (total ?? .max) }
}
