import ByteClubCore
import ByteClubFiles
import CLinux
import Glibc

/// How many seconds a data directory has seen pass, by two clocks that agree.
///
/// The wall clock can be set, by people, by the network, or to 1970 by an empty battery; so it alone never causes a
/// removal. The age grows by as much as *both* the wall clock and the machine's uptime have advanced since the last
/// reading, and not at all while the machine was off: to keep data too long is better than to lose it.
struct HistoryAge: Hashable, Sendable {
    /// The seconds that have passed.
    var seconds: Int64 = 0
    /// The wall clock at the last reading.
    let wall: Int64
    /// The machine's uptime at the last reading.
    let uptime: Uptime

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

/// A reading of the clock that cannot be set: seconds since this machine was started.
struct Uptime: Hashable, Sendable {
    /// The start of the machine from which it counts.
    let boot: String
    /// The seconds, including sleep.
    let seconds: Int64

    /// Reads the machine's clock, which only runs forward.
    @Sendable static func now() -> Uptime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return Uptime(boot: thisBoot, seconds: Int64(time.tv_sec))
    }

    private static let thisBoot: String = {
        // Without a name two readings of different processes never belong together, which errs on the safe side.
        fileText("/proc/sys/kernel/random/boot_id", upTo: 36) ?? Secret.text(bytes: 16)
    }()
}

extension APIDate {
    /// The time that a clock in the server's time zone shows at this moment, as a date in UTC.
    ///
    /// The gallery dates notes, and photos without a date of their own, by this clock, and other photos by a clock at
    /// their place (``TakenTime/clock``).
    var onServerClock: APIDate {
        var time = time_t(seconds)
        var parts = unsafe tm()
        guard unsafe localtime_r(&time, &parts) != nil else { return self }
        return unsafe APIDate(seconds: seconds + Int64(parts.tm_gmtoff))
    }
}
