import ByteClubCore

/// What a session remembers for its status and summary.
struct SessionStatus {
    /// After how many bytes a large file's progress is recorded.
    static let progressStep: Int64 = 4 << 20

    var outcome = SessionOutcome()
    var breach: RemoteError?
    /// At how many bytes each large file's progress is recorded next.
    var nextProgress: [ItemID: Int64] = [:]
    /// Why folders cannot be watched, as it was last reported.
    var watching: String?
    /// Whether an obstacle of the whole mirror is recorded, and whether that is known.
    var (hasObstacle, isObstacleKnown) = (false, false)
    var hasRested = false
    var lastSync: Int64?
}

extension SyncEvent {
    /// The event of a pause until a time in seconds since 1970; `Int64.max` is until it is resumed.
    init(pausedUntil time: Int64) { self.init(.paused, until: time == .max ? nil : time) }
}
