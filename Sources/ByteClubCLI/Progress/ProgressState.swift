/// How far one transfer has come, or all of a command, with all that a line about it tells.
struct ProgressState: Sendable {
    /// What is transferred now.
    var name: String
    /// Which of several transfers that is, from 1, the counts being of all of them; nil when there is one only.
    var place: (number: Int, of: Int)?
    /// Bytes the other side has.
    var completed: Int64
    /// Bytes that were sent beyond those.
    var inFlight: Int64 = 0
    /// Bytes in all; nil while unknown.
    var total: Int64?
    /// The share that is done, 0 to 1, where the bytes in all are not known; nil where nobody can tell.
    var share: Double?
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

    /// Bytes that were moved, whether the other side has said so or not.
    var moved: Int64 { max(completed, min(completed + inFlight, total ?? .max)) }

    /// The whole percent that was moved, 100 only when the other side has all; nil while the total is unknown.
    var percent: Int? {
        guard let total else { return share.map { Int(min(99, max(0, $0 * 100))) } }
        if completed >= total { return 100 }
        return Int(min(99, max(0, Double(moved) * 100 / Double(total))))
    }

    /// Seconds left; nil when nothing sensible can be said: before 2 s or 1 %, and while nothing moves.
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
