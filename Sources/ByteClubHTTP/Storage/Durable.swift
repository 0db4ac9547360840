import ByteClubFiles
import Glibc

/// Durable file operations; each call blocks.
enum Durable {
    /// Syncs a file's contents to disk.
    static func syncFile(_ path: String) throws(FileFailure) { try sync(path, O_RDONLY) }

    /// Syncs the folder that contains a path to disk.
    static func syncFolder(of path: String) throws(FileFailure) {
        try sync(parentFolder(of: path), O_RDONLY | O_DIRECTORY)
    }

    /// Replaces a file atomically.
    static func write(_ bytes: [UInt8], to path: String) throws(FileFailure) {
        var draft = try DraftFile<FileFailure>(path + ".kept", O_TRUNC)
        try draft.file.write(bytes)
        try draft.file.sync()
        try draft.place(at: path)
        try syncFolder(of: path)
    }

    private static func sync(_ path: String, _ flags: Int32) throws(FileFailure) {
        let file = try OwnedDescriptor<FileFailure>(path, flags)
        do throws(FileFailure) {
            try file.sync()
        } catch {
            // Some file systems cannot sync folders (fsync(2)).
            if error.code != EINVAL { throw error }
        }
    }
}

/// The identity of the current boot: within one boot, written data is readable whether or not it was synced.
enum MachineStart {
    /// The boot ID (random(4)); empty if it cannot be read.
    static let present: String = {
        let text = fileText("/proc/sys/kernel/random/boot_id", upTo: 36) ?? ""
        return text.utf8.count == 36 ? text : ""
    }()

    /// Whether a stored boot ID is the current one.
    static func isPresent(_ start: String) -> Bool { !start.isEmpty && start == present }
}
