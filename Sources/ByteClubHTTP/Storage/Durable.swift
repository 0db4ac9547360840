import Glibc

/// Files that outlive a power cut; each call blocks and answers with 0 or the system's error number.
enum Durable {
    /// Puts a file's bytes on the disk.
    static func syncFile(_ path: String) -> Int32 { sync(path, O_RDONLY) }

    /// Puts the names in the folder that a path is in on the disk.
    static func syncFolder(of path: String) -> Int32 {
        sync(path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./", O_RDONLY | O_DIRECTORY)
    }

    /// Replaces a file in one step.
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
        // Some file systems know no syncing of folders (fsync(2)).
        return fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno
    }
}
