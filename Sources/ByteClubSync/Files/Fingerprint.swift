/// What tells, without reading a file, that it is still the one whose content is known.
struct Fingerprint: Hashable, Sendable {
    var device: Int64
    var inode: Int64
    var size: Int64
    /// When the content was last written, in nanoseconds since 1970.
    var modified: Int64
    /// When anything of the file last changed, in nanoseconds since 1970.
    var changed: Int64

    init(device: Int64, inode: Int64, size: Int64, modified: Int64, changed: Int64) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
    }

    /// Whether this is the same file with the same content as far as times can tell, even when it was renamed since.
    ///
    /// A device's number may be another after each start of the system, so it does not count.
    func isSameContent(as other: Fingerprint) -> Bool {
        inode == other.inode && size == other.size && modified == other.modified
    }

    /// Whether nothing at all has happened to the file.
    func isUntouched(since other: Fingerprint) -> Bool { isSameContent(as: other) && changed == other.changed }

    /// The longest time after a change for which a look can be racy.
    static let racyWindow = Duration.seconds(2)

    /// Whether a write right after the look could leave this fingerprint as it is.
    ///
    /// File systems that count in nanoseconds stamp with the kernel's tick; the others with up to two seconds.
    func isRacy(at now: Int64) -> Bool {
        let isFine = changed % 1_000_000 != 0
        let window: Int64 = isFine ? 50_000_000 : 2_000_000_000
        return Self.isNear(changed, now, window) || (!isFine && Self.isNear(modified, now, window))
    }

    /// Whether a folder that was made at `born` could be followed by another with the same number and time of birth.
    static func isRacy(born: Int64, at now: Int64) -> Bool {
        isNear(born, now, born % 1_000_000 != 0 ? 50_000_000 : 2_000_000_000)
    }

    /// Whether a write right after the look could leave the time of the content as it is.
    func isContentRacy(at now: Int64) -> Bool {
        Self.isNear(modified, now, modified % 1_000_000 != 0 ? 50_000_000 : 2_000_000_000)
    }

    /// Whether two times are less than a window apart.
    ///
    /// A time far in the future is no danger: what is written now gets another.
    private static func isNear(_ left: Int64, _ right: Int64, _ window: Int64) -> Bool {
        let (distance, isFar) = left.subtractingReportingOverflow(right)
        return !isFar && distance.magnitude < window.magnitude
    }
}
