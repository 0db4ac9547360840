package import Glibc

/// Durable file operations; each call blocks and returns 0 or the system's error number.
enum Durable {
    /// Syncs a file's contents to disk.
    static func syncFile(_ path: String) -> Int32 { sync(path, O_RDONLY) }

    /// Syncs the folder that contains a path to disk.
    static func syncFolder(of path: String) -> Int32 {
        sync(path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./", O_RDONLY | O_DIRECTORY)
    }

    /// Replaces a file atomically.
    static func write(_ bytes: [UInt8], to path: String) -> Int32 {
        let temporary = path + ".kept"
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return errno }
        let count = unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        var code = count == bytes.count ? 0 : count < 0 ? errno : ENOSPC
        if code == 0, fsync(descriptor) != 0 { code = errno }
        close(descriptor)
        if code == 0, unsafe rename(temporary, path) != 0 { code = errno }
        if code != 0 {
            unsafe unlink(temporary)
            return code
        }
        return syncFolder(of: path)
    }

    private static func sync(_ path: String, _ flags: Int32) -> Int32 {
        let descriptor = unsafe open(path, flags | O_CLOEXEC)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        // Some file systems cannot sync folders (fsync(2)).
        return fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno
    }
}

/// The names of a folder's entries in no order; nil if it cannot be read, with the reason in `errno`.
func folderNames(_ path: String) -> [String]? {
    guard let folder = unsafe opendir(path) else { return nil }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
        names.append(
            unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            })
    }
    return names
}

/// The identity of the current boot: within one boot, written data is readable whether or not it was synced.
enum MachineStart {
    /// The boot ID (random(4)); empty if it cannot be read.
    static let present: String = {
        let descriptor = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 36)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        return count == bytes.count ? String(decoding: bytes, as: UTF8.self) : ""
    }()

    /// Whether a stored boot ID is the current one.
    static func isPresent(_ start: String) -> Bool { !start.isEmpty && start == present }
}

/// The properties of a file that change when it is written to or replaced.
package struct FileStamp: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    package let size: Int64
    package let seconds: Int
    package let nanoseconds: Int

    /// Creates a stamp from the result of fstat(2) or stat(2).
    package init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}
