/// What prevents a whole mirror from being synced: an unreachable server, a full disk.
struct ObstacleRecord: Hashable, Sendable {
    /// Since when, in seconds since 1970.
    var since: Int64
    /// One line for people.
    var message: String

    init(since: Int64, message: String) {
        self.since = since
        self.message = message
    }
}

/// For how long syncing is paused.
enum Pause: Hashable, Sendable {
    case until(Int64)
    case forever

    /// Reads a value of ``MetaKey/pausedUntil``; nil when that time has come or it is none.
    init?(_ text: String, now: Int64) {
        if text == "forever" {
            self = .forever
        } else if let time = Int64(text), time > now {
            self = .until(time)
        } else {
            return nil
        }
    }
}
