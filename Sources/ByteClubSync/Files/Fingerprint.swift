import CLinux
import Glibc

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

    init(_ status: stat) {
        device = Int64(bitPattern: UInt64(status.st_dev))
        inode = Int64(bitPattern: UInt64(status.st_ino))
        size = Int64(status.st_size)
        modified = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
        changed = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
    }

    /// Whether this is the same file with the same content as far as times can tell, even when it was renamed since.
    func isSameContent(as other: Fingerprint) -> Bool {
        device == other.device && inode == other.inode && size == other.size && modified == other.modified
    }

    /// Whether a write right after the look could leave this fingerprint as it is.
    ///
    /// File systems that count in nanoseconds stamp with the kernel's tick; the others with up to two seconds.
    func isRacy(at now: Int64) -> Bool {
        let isFine = changed % 1_000_000 != 0
        let window: Int64 = isFine ? 50_000_000 : 2_000_000_000
        return now &- max(changed, isFine ? changed : modified) < window
    }
}

/// A look at a file, and whether a write right after it could have gone unseen.
struct Look: Hashable, Sendable {
    let fingerprint: Fingerprint
    let isRacy: Bool

    /// Takes what the system has just told.
    init(_ status: stat) {
        fingerprint = Fingerprint(status)
        isRacy = fingerprint.isRacy(at: WallClock.now())
    }
}
