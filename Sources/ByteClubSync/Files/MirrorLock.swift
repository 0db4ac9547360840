import CLinux
import Glibc

/// The lock that lets one engine at a time run for a mirror, and shows whether the last one closed its database.
final class MirrorLock: Sendable {
    /// Whether the last engine ended without closing the database.
    let wasUnclean: Bool
    private let file: FileDescriptor

    /// The file's name in the state directory.
    static let fileName = "lock"

    /// Takes the lock; nil when another process holds it.
    init?(in directory: String) throws(FileError) {
        file = try FileDescriptor.open(directory + "/" + Self.fileName, O_RDWR | O_CREAT, mode: 0o600)
        if !file.setLocked(true) { return nil }
        wasUnclean = try file.status().size > 0
        if !wasUnclean { try file.write(Array("open\n".utf8)) }
    }

    /// Closing alone would not release it: a forked process has a copy of the descriptor until its exec.
    deinit { _ = file.setLocked(false) }

    /// Records that the database was closed.
    func markClean() { ftruncate(file.number, 0) }

    /// Makes a directory and what is missing above it.
    static func makeDirectories(_ path: String, mode: mode_t) throws(FileError) {
        var built = path.hasPrefix("/") ? "" : "."
        for name in path.utf8.split(separator: UInt8(ascii: "/")) {
            built += "/" + String(Substring(name))
            if unsafe mkdir(built, mode) != 0, errno != EEXIST {
                let code = errno
                throw FileError(operation: "make the folder", path: built, code: code)
            }
        }
    }
}
