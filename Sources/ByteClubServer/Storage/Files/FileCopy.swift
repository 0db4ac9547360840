import ByteClubFiles
import Glibc

/// Copies of files that never change.
enum FileCopy {
    private static let piece = 1 << 20

    /// Gives a file a second name, or copies it where that is not possible; returns whether it was linked.
    ///
    /// - Throws: ``StorageError`` `damaged` for all but a regular file, such as a symbolic link, and failures of the
    ///   system.
    static func link(_ path: String, to target: String) throws -> Bool {
        try check(path)
        switch Directory.linkNew(path, to: target) {
        case 0: return true
        case EXDEV, EPERM, EMLINK, ENOTSUP:
            try copy(path, to: target)
            return false
        case let number: throw StorageError(errno: number, "cannot link '\(path)'")
        }
    }

    /// Copies a file, so that what happens to the one does not happen to the other.
    ///
    /// - Throws: As ``link(_:to:)``.
    static func copy(_ path: String, to target: String) throws {
        try check(path)
        let source = try Descriptor(path: path, flags: O_RDONLY)
        let copy = try Descriptor(path: target, flags: O_WRONLY | O_CREAT | O_EXCL)
        var offset: Int64 = 0
        while case let bytes = try source.read(piece, at: offset), !bytes.isEmpty {
            try copy.write(bytes, at: offset)
            offset += Int64(bytes.count)
        }
        try copy.sync()
    }

    /// Refuses all but a regular file.
    ///
    /// - Throws: ``StorageError`` `missing` when there is no file, `damaged` when it is not a regular one.
    private static func check(_ path: String) throws(StorageError) {
        guard let status = FileStatus(path, followsLinks: false) else { throw StorageError(FileFailure("read", path)) }
        guard status.isFile else {
            throw StorageError(.damaged, "'\(path)' is not a regular file and is not copied")
        }
    }
}
