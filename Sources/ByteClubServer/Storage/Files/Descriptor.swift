import CLinux
import Glibc

/// An open file that is closed with its last reference.
final class Descriptor: Sendable {
    /// The file's path when it was opened.
    let path: String
    private let number: Int32

    /// Opens a file without following links.
    ///
    /// - Throws: ``StorageError``.
    init(path: String, flags: Int32, mode: mode_t = 0o600) throws(StorageError) {
        self.path = path
        number = unsafe byteclub_open(path, flags | O_CLOEXEC | O_NOFOLLOW, mode)
        if number < 0 { throw StorageError(errno: errno, "cannot open '\(path)'") }
    }

    /// Closing alone would not give a lock back: a program that is just being started has a copy until its exec.
    deinit {
        flock(number, LOCK_UN)
        close(number)
    }

    /// The file's length in bytes.
    func length() throws(StorageError) -> Int64 {
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else { throw failure("read") }
        return Int64(status.st_size)
    }

    /// Writes all the bytes at a place.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StorageError) {
        var rest = unsafe bytes[...]
        var place = offset
        while unsafe !rest.isEmpty {
            let count = unsafe pwrite(
                number, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count, off_t(place))
            if count < 0 {
                if errno == EINTR { continue }
                throw failure("write")
            }
            unsafe rest = rest.dropFirst(count)
            place += Int64(count)
        }
    }

    /// Reads bytes from a place; fewer than asked for only at the file's end.
    func read(_ count: Int, at offset: Int64) throws(StorageError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let result = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe pread(
                    number, buffer.baseAddress?.advanced(by: filled), count - filled, off_t(offset) + off_t(filled))
            }
            if result < 0 {
                if errno == EINTR { continue }
                throw failure("read")
            }
            if result == 0 { break }
            filled += result
        }
        return Array(bytes.prefix(filled))
    }

    /// Cuts the file off.
    func truncate(to length: Int64) throws(StorageError) {
        guard ftruncate(number, off_t(length)) == 0 else { throw failure("shorten") }
    }

    /// Gives the file to the owner of a directory, who could not open a file of root; only root can do that.
    ///
    /// A file with a second name may belong to another user, and keeps its owner.
    func give(toOwnerOf directory: String) {
        var (file, folder) = (stat(), stat())
        guard unsafe fstat(number, &file) == 0, unsafe stat(directory, &folder) == 0, file.st_nlink == 1,
            file.st_uid != folder.st_uid
        else { return }
        _ = fchown(number, folder.st_uid, folder.st_gid)
    }

    /// Hints that the kernel may start writing a part to disk, so that the sync at the end is short.
    func startWriteback(at offset: Int64, count: Int64) {
        _ = byteclub_start_writeback(number, offset, count)
    }

    /// Waits until the bytes and the length are on disk.
    func sync() throws(StorageError) {
        guard fdatasync(number) == 0 else { throw failure("sync") }
    }

    /// Waits until the bytes and all that the file system knows of the file are on disk.
    func syncAll() throws(StorageError) {
        guard fsync(number) == 0 else { throw failure("sync") }
    }

    /// Waits until all that was written to the file system of the file is on disk.
    func syncFileSystem() throws(StorageError) {
        guard byteclub_syncfs(number) == 0 else { throw failure("sync the file system of") }
    }

    /// Locks the file until the descriptor is closed; false when it is locked already.
    func lock() throws(StorageError) -> Bool {
        if flock(number, LOCK_EX | LOCK_NB) == 0 { return true }
        if errno == EWOULDBLOCK { return false }
        throw failure("lock")
    }

    /// Waits for a share of the file's lock, which keeps others from ``lock()`` until the descriptor ends.
    func share() throws(StorageError) {
        while flock(number, LOCK_SH) != 0 {
            if errno != EINTR { throw failure("lock") }
        }
    }

    /// Whether a process has the file open by another descriptor than this one; false where that cannot be seen.
    ///
    /// The number is that of the process in this container.
    func isOpen(inProcess process: Int32) -> Bool {
        var mine = stat()
        guard unsafe fstat(number, &mine) == 0 else { return false }
        let own = process == getpid() ? String(number) : nil
        let folder = "/proc/\(process)/fd"
        return ((try? Directory.names(in: folder)) ?? []).contains { name in
            var file = stat()
            guard name != own, unsafe stat("\(folder)/\(name)", &file) == 0 else { return false }
            return file.st_dev == mine.st_dev && file.st_ino == mine.st_ino
        }
    }

    private func failure(_ action: String) -> StorageError {
        StorageError(errno: errno, "cannot \(action) '\(path)'")
    }
}

extension StorageError {
    /// The storage's error for the number of a system error.
    init(errno number: Int32, _ action: String) {
        let reason = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
        self.init(number == ENOSPC || number == EDQUOT ? .full : .io, "\(action): \(reason)")
    }
}
