import ByteClubCore

/// What a session remembers for those who ask how it goes.
struct SessionStatus {
    /// After how many bytes a large file's way is recorded.
    static let progressStep: Int64 = 4 << 20

    var outcome = SessionOutcome()
    var breach: RemoteError?
    /// At how many bytes each large file's way is recorded next.
    var nextProgress: [ItemID: Int64] = [:]
    /// Why folders cannot be watched, as it was told last.
    var watching: String?
    /// Whether something was recorded to be in the way of the whole mirror, and whether that is known.
    var (hasObstacle, isObstacleKnown) = (false, false)
    var hasRested = false
    var lastSync: Int64?
}

extension SyncEvent {
    /// Tells a pause that ends at a time in seconds since 1970, or with `Int64.max` when somebody resumes it.
    init(pausedUntil time: Int64) { self.init(.paused, until: time == .max ? nil : time) }
}
