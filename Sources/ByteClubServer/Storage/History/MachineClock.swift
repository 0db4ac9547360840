import CLinux
import Glibc

/// What the clock that nobody can set says: seconds since this machine was started.
struct Uptime: Hashable, Sendable {
    /// Which start of the machine it counts from.
    let boot: String
    /// The seconds, those of sleep included.
    let seconds: Int64
}

/// The machine's clock that only runs forward.
enum MachineClock {
    /// Reads it.
    @Sendable static func uptime() -> Uptime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return Uptime(boot: boot, seconds: Int64(time.tv_sec))
    }

    private static let boot: String = {
        let path = "/proc/sys/kernel/random/boot_id"
        let bytes = try? Descriptor(path: path, flags: O_RDONLY).read(36, at: 0)
        // Without a name two readings of different processes never belong together, which errs on the safe side.
        return bytes.map { String(decoding: $0, as: UTF8.self) } ?? Secret.text(bytes: 16)
    }()
}
