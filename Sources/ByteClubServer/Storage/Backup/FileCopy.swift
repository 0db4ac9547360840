import Glibc

/// Copies of files that never change.
enum FileCopy {
    private static let piece = 1 << 20

    /// Gives a file a second name, or copies it where that cannot be; tells whether it was linked.
    ///
    /// - Throws: ``StorageError`` as the system says.
    static func link(_ path: String, to target: String) throws -> Bool {
        switch Directory.linkNew(path, to: target) {
        case 0: return true
        case EXDEV, EPERM, EMLINK, ENOTSUP:
            try copy(path, to: target)
            return false
        case let number: throw StorageError(errno: number, "cannot link '\(path)'")
        }
    }

    private static func copy(_ path: String, to target: String) throws {
        let source = try Descriptor(path: path, flags: O_RDONLY)
        let copy = try Descriptor(path: target, flags: O_WRONLY | O_CREAT | O_EXCL)
        var offset: Int64 = 0
        while case let bytes = try source.read(piece, at: offset), !bytes.isEmpty {
            unsafe try bytes.withUnsafeBytes { unsafe try copy.write($0, at: offset) }
            offset += Int64(bytes.count)
        }
        try copy.syncAll()
    }
}
