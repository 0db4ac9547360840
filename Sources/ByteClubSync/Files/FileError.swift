import ByteClubCore
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

    /// What is refused where the folder that has the entry may not be written.
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

    /// Whether the entry lies in the engine's own folder.
    var isInternal: Bool { path.split(separator: "/").contains { $0 == MirrorDirectory.privateName } }

    /// The path, without the names that files have within the engine's own folder.
    private var shown: String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard let own = parts.firstIndex(where: { $0 == MirrorDirectory.privateName }) else { return path }
        return parts[...own].joined(separator: "/")
    }
}
