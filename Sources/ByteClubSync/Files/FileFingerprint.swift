import ByteClubCore
import CLinux
import Glibc

extension FileTime {
    /// Whether every file system can store it: years 1980 to 2038.
    var isOnEveryDisk: Bool { (315_532_800..<2_147_483_648).contains(date.seconds) }

    /// Whether a time that was set is found again as this one, in nanoseconds since 1970.
    ///
    /// A file system without such a time uses its first or last one; some have a resolution of two seconds.
    func isKept(as found: Int64) -> Bool {
        let (distance, isFar) = found.subtractingReportingOverflow(nanoseconds)
        return !isFar && distance.magnitude <= 2_000_000_000
    }
}

/// Identifies a file's content without reading it: inode, size and times.
struct FileFingerprint: Hashable, Sendable {
    var device: Int64
    var inode: Int64
    var size: Int64
    /// When the content was last written, in nanoseconds since 1970; the first or the last that there is for a time
    /// beyond.
    var modified: Int64
    /// When anything of the file last changed, in nanoseconds since 1970.
    var changed: Int64

    /// When the content was last written; nil for what no ``FileTime`` can be.
    var time: FileTime? {
        // The first second has no whole one before it that older servers know.
        modified == .max || modified < .min + 1_000_000_000 ? nil : FileTime(nanoseconds: modified)
    }

    /// Whether inode, size and modification time are equal: the same content, even after a rename.
    ///
    /// The device number may change with each boot and is ignored. A modification time ahead of the last change, as of
    /// a file from another machine, proves nothing: a later write may set it again.
    func isSameContent(as other: FileFingerprint) -> Bool {
        inode == other.inode && size == other.size && modified == other.modified
            && (changed == other.changed || modified <= other.changed)
    }

    /// Whether the change time is equal as well: neither content nor metadata changed.
    func isUntouched(since other: FileFingerprint) -> Bool { isSameContent(as: other) && changed == other.changed }

    /// The longest time after a change during which a stat can be racy.
    static let racyWindow = Duration.seconds(2)

    /// Whether a write right after the stat could leave this fingerprint unchanged.
    func isRacy(at now: Int64) -> Bool {
        Self.isRecent(changed, at: now) || !Self.isFine(changed) && Self.isRecent(modified, at: now, isFine: false)
    }

    /// Whether a write right after the stat could leave the modification time unchanged.
    func isContentRacy(at now: Int64) -> Bool { Self.isRecent(modified, at: now) }

    /// Whether a time is so recent that the file system may give it once more.
    ///
    /// File systems with nanosecond times use the kernel's tick; the others have a granularity of up to two seconds. A
    /// time far in the future is harmless: a write now sets another one.
    static func isRecent(_ time: Int64, at now: Int64, isFine: Bool? = nil) -> Bool {
        let (distance, isFar) = time.subtractingReportingOverflow(now)
        return !isFar && distance.magnitude < (isFine ?? Self.isFine(time) ? 50_000_000 : 2_000_000_000)
    }

    private static func isFine(_ time: Int64) -> Bool { time % 1_000_000 != 0 }
}

extension FileStat {
    /// Whether it is the same file, unchanged in content and metadata.
    func isUntouched(since other: FileStat) -> Bool {
        handle == other.handle && fingerprint.isUntouched(since: other.fingerprint)
    }
}

/// The wall clock, for timestamps and for detecting racy stats; it never decides an order (invariant I11).
enum WallClock {
    /// Nanoseconds since 1970.
    static func now() -> Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// The day of the week, 0 being Monday, and the minute of the day, in this machine's time zone.
    static func localTime(_ nanoseconds: Int64) -> (weekday: Int, minute: Int) {
        let parts = unsafe local(nanoseconds / 1_000_000_000)
        return unsafe ((Int(parts.tm_wday) + 6) % 7, Int(parts.tm_hour) * 60 + Int(parts.tm_min))
    }

    /// How many seconds this machine's time zone is ahead of Greenwich at a time in seconds since 1970.
    static func offset(_ seconds: Int64) -> Int64 {
        unsafe Int64(local(seconds).tm_gmtoff)
    }

    private static func local(_ seconds: Int64) -> tm {
        var seconds = time_t(seconds)
        var parts = unsafe tm()
        tzset()
        _ = unsafe localtime_r(&seconds, &parts)
        return unsafe parts
    }

    /// The day as `2026-08-01`.
    static func day(_ nanoseconds: Int64) -> String {
        String(APIDate(seconds: nanoseconds / 1_000_000_000).rfc3339.prefix { $0 != "T" })
    }
}
