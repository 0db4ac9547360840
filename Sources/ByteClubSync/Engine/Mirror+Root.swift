import ByteClubCore
import Glibc

extension Mirror {
    /// Opens the mirror's root.
    static func openRoot(_ configuration: SyncConfiguration, _ disk: any Disk) throws -> any DiskFolder {
        do throws(FileError) {
            return try disk.openRoot()
        } catch {
            guard error.isMissing else { throw error }
            throw SyncError(
                .rootMissing,
                "the mirror '\(configuration.directory)' is gone; bring it back, or choose another directory")
        }
    }

    /// Refuses a root that is not the one that was synced before.
    static func checkMarker(_ root: any DiskFolder, _ store: any TreeStore, _ configuration: SyncConfiguration) throws {
        let known = try store.meta(.mirrorID)
        let marker = try PrivateArea.marker(in: root)
        let fileSystem = try root.fileSystem()
        guard let known, marker != known, try store.syncedCount() > 0 else { return }
        let isElsewhere = try store.meta(.fileSystem).map { $0 != fileSystem } ?? false
        throw SyncError(
            .rootReplaced,
            isElsewhere
                ? "'\(configuration.directory)' is on another disk than the mirror that was synced before; is its disk mounted?"
                : "'\(configuration.directory)' is not the mirror that was synced before: its marker is "
                    + (marker == nil ? "missing" : "another one's")
                    + "; bring the mirror back, or remove '\(configuration.stateDirectory)' to start anew with what is there"
        )
    }

    /// Gives database and root the same identity, and tells it.
    static func identify(
        _ root: any DiskFolder, _ area: PrivateArea?, _ store: any TreeStore, _ disk: any Disk
    ) throws -> String {
        let known = try store.meta(.mirrorID)
        let handle = try root.look().handle
        let id = known ?? ContentHasher.hash(Array("\(disk.now()) \(handle)".utf8)).description
        guard let area else { return id }
        if try PrivateArea.marker(in: root) != id { try area.setMarker(id) }
        let fileSystem = try root.fileSystem()
        try store.transaction(durably: true) {
            try store.setMeta(.mirrorID, id)
            try store.setMeta(.fileSystem, fileSystem)
            try store.setMeta(.isOpen, "1")
        }
        return id
    }

    /// Checks that the root is still the one that was opened and the one at its path.
    func checkRoot() throws {
        let there = try Self.openRoot(configuration, surroundings.disk)
        guard try there.look().handle == root.look().handle, try there.fileSystem() == root.fileSystem() else {
            throw SyncError(
                .rootReplaced, "the mirror '\(configuration.directory)' was replaced while it was being synced")
        }
        try Self.checkMarker(root, store, configuration)
    }
}
