import CLinux
import Glibc

/// Chunks that a write has named: second copies of what is stored, which make way when the disk is full.
///
/// Until then they stay for contents that are like theirs. The mark is the file's access time of 0, which is gone when
/// the chunk is sent, asked for or read again; a crash may take it, and the chunk then waits for its day to end.
struct SpareChunks: Sendable {
    /// How many bytes go at once at least, so that not every write on a full disk looks through the folders.
    private static let least: Int64 = 16 << 20
    /// `UTIME_OMIT` of utimensat(2), which Swift cannot import.
    private static let unchanged = (1 << 30) - 2

    /// The directory with a folder for each member.
    let root: String

    /// Marks the chunk at a path.
    static func mark(_ path: String) {
        let times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 0, tv_nsec: unchanged)]
        _ = unsafe utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW)
    }

    /// Removes the oldest ones until they make so many bytes; tells whether any was there.
    func remove(_ bytes: Int64) -> Bool {
        var spare: [(path: String, modified: Int, bytes: Int64)] = []
        for folder in (try? Directory.names(in: root)) ?? [] {
            for name in (try? Directory.names(in: root + "/" + folder)) ?? [] {
                let path = "\(root)/\(folder)/\(name)"
                var status = stat()
                guard unsafe lstat(path, &status) == 0, status.st_atim.tv_sec == 0 else { continue }
                spare.append((path, status.st_mtim.tv_sec, Int64(status.st_size)))
            }
        }
        var freed: Int64 = 0
        for chunk in spare.sorted(by: { $0.modified < $1.modified }) where freed < max(bytes, Self.least) {
            if unsafe unlink(chunk.path) == 0 { freed += chunk.bytes }
        }
        return freed > 0
    }
}
