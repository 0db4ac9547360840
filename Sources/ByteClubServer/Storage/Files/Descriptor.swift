import ByteClubFiles
import CLinux
import Glibc

/// An open file that is closed with its last reference, and with it a lock that it has.
typealias Descriptor = OwnedDescriptor<StorageError>

extension OwnedDescriptor where Failure == StorageError {
    /// Opens a file without following links.
    ///
    /// - Throws: ``StorageError``.
    convenience init(path: String, flags: Int32, mode: mode_t = 0o600) throws(StorageError) {
        try self.init(path, flags | O_NOFOLLOW, mode: mode)
    }

    /// The file's length in bytes.
    func length() throws(StorageError) -> Int64 { try fileStatus().size }

    /// Gives the file to the owner of a directory, who could not open a file of root; only root can do that.
    ///
    /// A file with a second name may belong to another user, and keeps its owner.
    func give(toOwnerOf directory: String) {
        guard let file = try? fileStatus().raw, let folder = FileStatus(directory)?.raw, file.st_nlink == 1,
            file.st_uid != folder.st_uid
        else { return }
        _ = fchown(number, folder.st_uid, folder.st_gid)
    }

    /// Hints that the kernel may start writing a part to disk, so that the sync at the end is short.
    func startWriteback(at offset: Int64, count: Int64) {
        _ = byteclub_start_writeback(number, offset, count)
    }

    /// Waits until all that was written to the file system of the file is on disk.
    func syncFileSystem() throws(StorageError) {
        guard byteclub_syncfs(number) == 0 else { throw failure("sync the file system of") }
    }

    /// Whether a process has the file open by another descriptor than this one; false where that cannot be seen.
    ///
    /// The number is that of the process in this container.
    func isOpen(inProcess process: Int32) -> Bool {
        let folder = "/proc/\(process)/fd"
        guard let mine = try? fileStatus(), let names = try? FolderNames(folder) else { return false }
        let own = process == getpid() ? String(number) : nil
        return names.contains { name in name != own && FileStatus("\(folder)/\(name)")?.isSame(as: mine) == true }
    }
}

extension StorageError: FileFailureConvertible {
    init(_ failure: FileFailure) { self.init(errno: failure.code, "cannot \(failure.operation) '\(failure.path)'") }

    /// The storage's error for the number of a system error.
    init(errno number: Int32, _ action: String) {
        self.init(number == ENOSPC || number == EDQUOT ? .full : .io, "\(action): \(FileFailure.reason(number))")
    }
}
