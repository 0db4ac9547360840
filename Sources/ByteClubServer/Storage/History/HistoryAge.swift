import ByteClubCore

/// How many seconds a data directory has seen pass, by two clocks that agree.
///
/// The wall clock can be set, by people, by the network, or to 1970 by an empty battery; so nothing is ever removed on
/// its word alone. The age grows by what *both* the wall clock and the machine's uptime have advanced since the last
/// reading, and not at all while the machine was off: what was kept too long is a smaller evil than what was lost.
struct HistoryAge: Hashable, Sendable {
    /// The seconds that have passed.
    let seconds: Int64
    private let wall: Int64
    private let uptime: Uptime

    /// Starts to count.
    init(wall: Int64, uptime: Uptime) {
        seconds = 0
        self.wall = wall
        self.uptime = uptime
    }

    private init(seconds: Int64, wall: Int64, uptime: Uptime) {
        self.seconds = seconds
        self.wall = wall
        self.uptime = uptime
    }

    /// The age at a later reading of both clocks.
    func advanced(wall: Int64, uptime: Uptime) -> HistoryAge {
        let isSameBoot = uptime.boot == self.uptime.boot
        let passed = isSameBoot ? max(0, min(wall - self.wall, uptime.seconds - self.uptime.seconds)) : 0
        return HistoryAge(seconds: seconds + passed, wall: wall, uptime: uptime)
    }
}

extension HistoryAge {
    /// The age as the database keeps it.
    var text: String { "\(seconds) \(wall) \(uptime.seconds) \(uptime.boot)" }

    /// Reads what the database keeps; nil when it is anything else.
    init?(text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 4, let seconds = Int64(parts[0]), let wall = Int64(parts[1]), let up = Int64(parts[2])
        else {
            return nil
        }
        self.init(seconds: seconds, wall: wall, uptime: Uptime(boot: String(parts[3]), seconds: up))
    }
}
