import ByteClubCore
import ByteClubFiles
import CLinux
import Glibc

/// An open file or directory of a mirror, or another descriptor; closed with its last reference.
///
/// Names are single components and links are never followed.
typealias FileDescriptor = OwnedDescriptor<FileError>

extension OwnedDescriptor where Failure == FileError {
    /// Opens a path that the mirror's owner gave; the only call that follows links.
    static func open(_ path: String, _ flags: Int32, mode: mode_t = 0o666) throws(FileError) -> FileDescriptor {
        if path.utf8.contains(0) { throw FileError(operation: "open", path: path, code: EINVAL) }
        return try FileDescriptor(path, flags, mode: mode)
    }

    /// Opens an entry of this directory.
    func open(_ name: String, _ flags: Int32, mode: mode_t = 0o666) throws(FileError) -> FileDescriptor {
        let number = unsafe byteclub_openat(self.number, name, flags | O_CLOEXEC | O_NOFOLLOW, mode)
        guard number >= 0 else { throw failure("open", name) }
        return FileDescriptor(owning: number, path: joined(name))
    }

    /// Opens a directory in this directory.
    func directory(_ name: String) throws(FileError) -> FileDescriptor {
        try open(name, O_RDONLY | O_DIRECTORY)
    }

    /// This file's status, by statx(2).
    func status() throws(FileError) -> byteclub_status {
        var status = byteclub_status()
        guard unsafe byteclub_statx(number, "", &status) == 0 else { throw failure("stat") }
        return status
    }

    /// The status of an entry of this directory, by statx(2); nil when there is none.
    func status(of name: String) throws(FileError) -> byteclub_status? {
        var status = byteclub_status()
        if unsafe byteclub_statx(number, name, &status) == 0 { return status }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        throw failure("stat", name)
    }

    /// Writes the whole file system to disk.
    func syncFileSystem() throws(FileError) {
        guard byteclub_syncfs(number) == 0 else { throw failure("sync") }
    }

    /// Renames an entry; `flags` are the flags of renameat2(2).
    func rename(
        _ name: String, to directory: FileDescriptor, _ newName: String, _ flags: UInt32 = 0
    ) throws(FileError) {
        guard unsafe byteclub_renameat2(number, name, directory.number, newName, flags) == 0 else {
            let error = failure("rename", name)
            // A move out of the engine's own folder fails because of the target, and so does one of a forbidden entry.
            let isClosed = unsafe error.isLasting && faccessat(directory.number, ".", W_OK, AT_EACCESS) != 0
            guard error.isInternal || isClosed else { throw error }
            throw FileError(operation: "rename", path: directory.joined(newName), code: error.code)
        }
    }

    /// Makes a directory in this directory.
    func makeDirectory(_ name: String) throws(FileError) {
        guard unsafe mkdirat(number, name, 0o777) == 0 else { throw failure("make the folder", name) }
    }

    /// Sets this file's group and permissions; false when it has them already.
    ///
    /// Where the group cannot be set, its permissions are left out, since they would be another group's.
    func setAccess(_ mode: UInt32, group: UInt32) throws(FileError) -> Bool {
        let now = try status()
        var bits = mode & 0o777
        if now.mode & 0o777 == bits, now.group == group { return false }
        if now.group != group, fchown(number, .max, group) != 0 { bits &= ~0o070 }
        guard fchmod(number, bits) == 0 else { throw failure("set the permissions of") }
        return true
    }

    /// Allows all who may read this file to execute it, or forbids it to all; false when the owner's permission is
    /// right already.
    func setExecutable(_ isExecutable: Bool) throws(FileError) -> Bool {
        let mode = try status().mode & 0o7777
        if (mode & S_IXUSR != 0) == isExecutable { return false }
        let wanted = isExecutable ? mode | (mode & 0o444) >> 2 : mode & ~0o111
        guard fchmod(number, wanted) == 0 else { throw failure("set the permissions of") }
        return true
    }

    /// Acquires or releases an advisory lock of this file or directory; false while another descriptor has it.
    ///
    /// An engine that is ending may hold it a moment longer, and so may a process that it has just forked, until its
    /// exec. With `isOptional`, a file system that has no such lock gives it to everybody.
    func setLocked(_ isLocked: Bool, isOptional: Bool = false) -> Bool {
        guard isLocked else { return flock(number, LOCK_UN) == 0 }
        let (retries, pause): (Int, UInt32) = (20, 10_000)
        for _ in 0..<retries {
            if (try? lock()) ?? isOptional { return true }
            usleep(pause)
        }
        return (try? lock()) ?? isOptional
    }

    /// Removes an empty directory in this directory.
    func removeDirectory(_ name: String) throws(FileError) {
        guard unsafe unlinkat(number, name, AT_REMOVEDIR) == 0 else { throw failure("remove the folder", name) }
    }

    /// Removes a file in this directory.
    func remove(_ name: String) throws(FileError) {
        guard unsafe unlinkat(number, name, 0) == 0 else { throw failure("remove", name) }
    }

    private func joined(_ name: String) -> String { path.isEmpty ? name : path + "/" + name }

    private func failure(_ operation: String, _ name: String) -> FileError {
        let code = errno
        return FileError(operation: operation, path: joined(name), code: code)
    }
}

/// Why the system refused to do something with a file.
struct FileError: Error, Hashable, CustomStringConvertible {
    /// The operation as a verb: `open`, `rename`.
    let operation: String
    /// The path relative to the mirror, or as it was given.
    let path: String
    /// The system's error number.
    let code: Int32

    /// Whether nothing is at the path, or a parent is no folder.
    var isMissing: Bool { code == ENOENT || code == ENOTDIR || code == ELOOP }

    /// Whether the operation will fail until a person changes permissions.
    var isLasting: Bool { code == EACCES || code == EPERM || code == EROFS }

    /// The system's words for the error.
    var reason: String { FileFailure.reason(code) }

    /// The operations that fail where the entry's folder is not writable.
    private static let changes: Set<String> = ["rename", "remove", "remove the folder", "make the folder"]

    /// One part of a line about an entry, for people.
    var description: String {
        guard isLasting, Self.changes.contains(operation) else { return "cannot \(operation) '\(shown)': \(reason)" }
        let folder = LocalPath.split(shown).parent
        let mending =
            switch code {
            case EROFS: ""
            case EACCES where !folder.isEmpty: "; make it writable, as by \(ShellWord.command("chmod u+w", folder))"
            default: "; make '\(folder.isEmpty ? "." : folder)' writable"
            }
        return "its folder cannot be written: \(reason)\(mending)"
    }

    /// Whether the entry is in the engine's own folder.
    var isInternal: Bool { path.split(separator: "/").contains { $0 == MirrorDirectory.privateName } }

    /// The path, without the names that files have within the engine's own folder.
    private var shown: String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard let own = parts.firstIndex(where: { $0 == MirrorDirectory.privateName }) else { return path }
        return parts[...own].joined(separator: "/")
    }
}

extension FileError: FileFailureConvertible {
    init(_ failure: FileFailure) {
        self.init(operation: failure.operation, path: failure.path, code: failure.code)
    }
}
