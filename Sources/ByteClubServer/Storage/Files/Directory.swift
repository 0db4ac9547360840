import ByteClubFiles
import CLinux
import Glibc

/// Calls on directories and their entries.
enum Directory {
    /// Makes a directory for its owner alone; true when it is new.
    ///
    /// - Throws: ``StorageError``.
    @discardableResult
    static func make(_ path: String) throws(StorageError) -> Bool {
        if unsafe mkdir(path, 0o700) == 0 { return true }
        guard errno == EEXIST else { throw StorageError(errno: errno, "cannot create '\(path)'") }
        if FileStatus(path)?.isFolder == false {
            throw StorageError(.exists, "'\(path)' already exists and is not a directory")
        }
        return false
    }

    /// Waits until the directory's entries are on disk.
    static func sync(_ path: String) throws(StorageError) {
        try Descriptor(path: path, flags: O_RDONLY | O_DIRECTORY).sync()
    }

    /// Waits until all that was written to the file system which holds a path is on disk.
    static func syncFileSystem(_ path: String) throws(StorageError) {
        try Descriptor(path: path, flags: O_RDONLY | O_DIRECTORY).syncFileSystem()
    }

    /// The names of a directory's entries, without `.` and `..`.
    static func names(in path: String) throws(StorageError) -> [String] {
        do throws(FileFailure) { return try Array(FolderNames(path)) } catch { throw StorageError(error) }
    }

    /// Moves a file to an unused name; the error's number, or 0.
    static func moveNew(_ path: String, to target: String) -> Int32 {
        unsafe byteclub_renameat2(AT_FDCWD, path, AT_FDCWD, target, byteclub_rename_noreplace) == 0 ? 0 : errno
    }

    /// Gives a file an unused second name; the error's number, or 0.
    static func linkNew(_ path: String, to target: String) -> Int32 {
        unsafe link(path, target) == 0 ? 0 : errno
    }

    /// How many names the file at a path has; 0 when there is none.
    static func linkCount(_ path: String) -> Int {
        entry(path).map { Int($0.raw.st_nlink) } ?? 0
    }

    /// Whether this process may make and remove entries of a directory; false on a read-only file system.
    static func isWritable(_ path: String) -> Bool { unsafe access(path, W_OK) == 0 }

    /// Whether there is a directory at a path, and no link to one.
    static func isFolder(_ path: String) -> Bool { entry(path)?.isFolder == true }

    /// The directory of a path's last name.
    static func parent(of path: String) -> String {
        var path = path[...]
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return parentFolder(of: String(path))
    }

    /// Whether a path, of which the last name need not be there yet, leads to below a directory.
    static func holds(_ path: String, below directory: String) -> Bool {
        guard let root = resolvedPath(directory) else { return false }
        guard let above = resolvedPath(path) ?? resolvedPath(parent(of: path)) else { return false }
        return above == root || above.hasPrefix(root == "/" ? root : root + "/")
    }

    /// Whether two paths are names of one file.
    static func isSame(_ path: String, _ other: String) -> Bool {
        guard let first = entry(path), let second = entry(other) else { return false }
        return first.isSame(as: second)
    }

    /// Whether there is anything at a path, or something that cannot be looked at.
    static func holds(_ path: String) -> Bool { entry(path) != nil || errno != ENOENT }

    /// The length of the regular file at a path; nil when there is none.
    static func fileLength(_ path: String) -> Int64? { file(path)?.size }

    /// When the regular file at a path was last written or touched, in seconds since 1970; nil when there is none.
    static func modified(_ path: String) -> Int64? { file(path)?.modified }

    private static func entry(_ path: String) -> FileStatus? { FileStatus(path, followsLinks: false) }

    private static func file(_ path: String) -> FileStatus? { entry(path).flatMap { $0.isFile ? $0 : nil } }

    /// Sets when a file was last written, in seconds since 1970; false when there is none.
    static func touch(_ path: String, at seconds: Int64) -> Bool {
        let time = timespec(tv_sec: Int(seconds), tv_nsec: 0)
        return unsafe utimensat(AT_FDCWD, path, [time, time], 0) == 0
    }

    /// The bytes that an ordinary user may still write on the file system that holds a path.
    static func freeBytes(_ path: String) throws(StorageError) -> Int64 {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { throw StorageError(errno: errno, "cannot ask '\(path)'") }
        // Some network file systems say that there is no end.
        let (bytes, isEndless) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return isEndless ? .max : Int64(clamping: bytes)
    }

    /// Who else may change a directory, as a line for people; nil when only its owner and root may.
    static func exposure(_ path: String) -> String? {
        guard let status = FileStatus(path)?.raw else { return nil }
        if status.st_uid != 0, status.st_uid != geteuid() {
            return "'\(path)' belongs to another user (\(status.st_uid)), who can change everything served from it"
        }
        let isOpenToGroup = status.st_mode & S_IWGRP != 0 && status.st_gid != getegid()
        guard isOpenToGroup || status.st_mode & S_IWOTH != 0 else { return nil }
        return "'\(path)' is writable by others, who can change everything served from it; run 'chmod go-w'"
    }

    /// Removes a directory with all in it, as far as possible; of a symbolic link only the link.
    static func remove(_ path: String) {
        guard isFolder(path) else {
            unsafe unlink(path)
            return
        }
        for name in (try? names(in: path)) ?? [] {
            let entry = path + "/" + name
            remove(entry)
        }
        unsafe rmdir(path)
    }
}

/// The last bytes of a disk, which new content may not take: with them deleting, moving and restoring go on.
struct DiskReserve: Sendable {
    private static let maximum: UInt64 = 32 << 20

    private let directory: String
    private let spare: SpareChunks?

    /// Watches the file system of a directory, of which some files may go before it counts as full.
    init(_ directory: String, spare: SpareChunks? = nil) {
        (self.directory, self.spare) = (directory, spare)
    }

    /// Refuses new content of so many bytes when it would leave less than the reserve: 32 MiB, or a quarter of a small
    /// disk.
    ///
    /// - Throws: ``StorageError`` `full`, or a failure of the system.
    func check(for bytes: Int64 = 0) throws(StorageError) {
        var lack = try lack(for: bytes)
        if lack > 0, let spare, spare.remove(lack) { lack = try self.lack(for: bytes) }
        guard lack == 0 else {
            throw StorageError(.full, "the disk of '\(directory)' is full, except for a reserve for deletions")
        }
    }

    /// How many bytes are too few; 0 when there is room.
    private func lack(for bytes: Int64) throws(StorageError) -> Int64 {
        var status = statvfs()
        guard unsafe statvfs(directory, &status) == 0 else {
            throw StorageError(errno: errno, "cannot ask '\(directory)'")
        }
        let block = UInt64(status.f_frsize)
        let total = UInt64(status.f_blocks).multipliedReportingOverflow(by: block)
        let reserve = total.overflow ? Self.maximum : min(Self.maximum, total.partialValue / 4)
        let free = UInt64(status.f_bavail).multipliedReportingOverflow(by: block)
        let needed = reserve + UInt64(max(bytes, 0))
        return free.overflow || free.partialValue >= needed ? 0 : Int64(clamping: needed - free.partialValue)
    }
}
