import CLinux
import Glibc

/// Why the system refused to do something with a file.
struct FileError: Error, Hashable, CustomStringConvertible {
    /// What was tried, as a verb: `open`, `rename`.
    let operation: String
    /// The path relative to the mirror, or as it was given.
    let path: String
    /// The system's error number.
    let code: Int32

    /// Whether nothing is at the path, or something that is no folder stands above it.
    var isMissing: Bool { code == ENOENT || code == ENOTDIR || code == ELOOP }

    /// Whether the same will be refused until somebody changes what may be done there.
    var isLasting: Bool { code == EACCES || code == EPERM || code == EROFS }

    /// The system's words for the error.
    var reason: String {
        unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }

    var description: String { "cannot \(operation) '\(path)': \(reason)" }
}
