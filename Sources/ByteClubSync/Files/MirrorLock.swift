import ByteClubCore
import ByteClubFiles
import CLinux
import Glibc

/// The lock that lets one engine at a time run for a mirror, and shows whether the last one closed its database.
final class MirrorLock: Sendable {
    /// Whether the last engine ended without closing the database.
    let wasUnclean: Bool
    private let file: FileDescriptor

    /// The file's name in the state directory.
    static let fileName = "lock"

    /// Acquires the lock; nil when another process holds it.
    init?(in directory: String) throws(FileError) {
        file = try FileDescriptor.open(directory + "/" + Self.fileName, O_RDWR | O_CREAT, mode: 0o600)
        if !file.setLocked(true) { return nil }
        wasUnclean = try file.status().size > 0
        let text = Array("open \(getpid())\n".utf8)
        try file.write(text, at: 0)
        // Never empty from here on: a kill leaves it as one that was not closed.
        try? file.truncate(to: Int64(text.count))
    }

    /// The process that holds, or held, the lock in a state directory; nil when its file names none.
    static func holder(in directory: String) -> LockHolder? {
        fileText(directory + "/" + fileName, upTo: 4096).flatMap { text in
            LockHolder(lock: text) { fileText("/proc/\($0)/cgroup", upTo: 4096) }
        }
    }

    /// The holder of the lock and how to end it, as the end of a message: ` (process 12); …`.
    static func advice(in directory: String, then: String = "") -> String {
        guard let holder = holder(in: directory) else { return "; stop it with Ctrl-C where it runs\(then)" }
        let here = holder.unit == nil ? "Ctrl-C where it runs, or " : ""
        return " (process \(holder.process)); stop it with \(here)'\(holder.ending)'\(then)"
    }

    /// Records that the database was closed.
    func markClean() { try? file.truncate(to: 0) }

    /// Makes a directory and its missing parents.
    static func makeDirectories(_ path: String, mode: mode_t) throws(FileError) {
        do throws(FileFailure) { try makeFolders(path, mode: mode, for: "make the folder") } catch {
            throw FileError(error)
        }
    }
}

/// Names at every mirror's root.
enum MirrorDirectory {
    /// The control directory at the root: staging, trash and the root's marker.
    static let privateName = ".byteclub"
}
