public import ByteClubCore
import Glibc

extension SyncEngine {
    /// The identity of the mirror whose root a directory is; nil when it is none, or cannot be read.
    public static func marker(in directory: String) -> String? {
        guard let root = try? LinuxDisk(directory).openRoot() else { return nil }
        return try? ControlDirectory.marker(in: root)
    }

    /// What tells a directory from every other one, its copies included, wherever it is moved on its disk
    /// (name_to_handle_at(2)); nil when it cannot be told.
    public static func handle(of directory: String) -> String? {
        guard let handle = try? LinuxDisk(directory).openRoot().stat().handle else { return nil }
        return "\(handle.high) \(handle.low)"
    }

    /// The identity that a mirror's database knows its root by; nil before the first sync.
    ///
    /// - Throws: ``SyncError`` with the code `database` when that cannot be read.
    public static func identity(of configuration: SyncConfiguration) throws(SyncError) -> String? {
        try configuration.read { try $0.meta(.mirrorID) } ?? nil
    }

    /// Makes a mirror an ordinary directory and removes its state; its files stay as they are, and what is in its trash.
    ///
    /// - Returns: Whether its trash or staging is kept, because something is in it.
    /// - Throws: ``SyncError`` with the code `alreadyRunning` while a sync of it runs, `io` when the disk refuses.
    public static func unlink(_ configuration: SyncConfiguration) throws(SyncError) -> Bool {
        do {
            let id = try? identity(of: configuration)
            guard let lock = try MirrorLock(in: configuration.stateDirectory) else {
                let advice = MirrorLock.advice(in: configuration.stateDirectory, then: " first")
                throw SyncError(.alreadyRunning, "a sync of '\(configuration.directory)' is running\(advice)")
            }
            // The lock is held until its file is gone.
            return try withExtendedLifetime(lock) {
                // A database without a mirror would take the next one of this path for its own, not the reverse.
                try removeState(configuration.stateDirectory)
                guard let id, marker(in: configuration.directory) == id else { return false }
                return try ControlDirectory.remove(from: LinuxDisk(configuration.directory).openRoot())
            }
        } catch {
            throw SyncError.wrapping(error)
        }
    }

    private static func removeState(_ directory: String) throws(FileError) {
        let parts = LocalPath.split(directory)
        let mirrors = try LinuxDisk("/" + parts.parent).openRoot()
        let state = try mirrors.folder(parts.name)
        let names = try state.list().filter { $0.kind == .file }.map(\.name)
        for name in names where name != MirrorLock.fileName { try state.removeFile(name) }
        if names.contains(MirrorLock.fileName) { try state.removeFile(MirrorLock.fileName) }
        try mirrors.removeFolder(parts.name)
        try mirrors.sync()
    }
}
