import ByteClubCore

/// The mirror's root, with the checks that it is the one that was synced before.
struct MirrorRoot {
    private let configuration: SyncConfiguration
    private let environment: SyncEnvironment
    let folder: any DiskFolder

    /// Opens the root; a problem with it is recorded, unless the session is read-only.
    ///
    /// - Throws: ``SyncError`` with the code `rootMissing` or `rootReplaced`.
    init(
        _ configuration: SyncConfiguration, _ environment: SyncEnvironment, _ store: any TreeStore, isDryRun: Bool
    ) throws {
        self.configuration = configuration
        self.environment = environment
        do {
            folder = try Self.open(configuration, environment.disk)
            try Self.checkMarker(folder, store, configuration)
        } catch {
            let now = environment.disk.now() / 1_000_000_000
            if !isDryRun { try? store.note(obstacle: SyncError.wrapping(error), at: now) }
            throw error
        }
    }

    private static func open(_ configuration: SyncConfiguration, _ disk: any Disk) throws -> any DiskFolder {
        do throws(FileError) {
            return try disk.openRoot()
        } catch {
            guard error.isMissing else { throw error }
            throw SyncError(
                .rootMissing,
                "the mirror '\(configuration.directory)' is gone; restore it, or choose another directory")
        }
    }

    /// Checks that the root is the one that was synced before.
    private static func checkMarker(
        _ root: any DiskFolder, _ store: any TreeStore, _ configuration: SyncConfiguration
    ) throws {
        let known = try store.meta(.mirrorID)
        let marker = try ControlDirectory.marker(in: root)
        let fileSystem = try root.fileSystem()
        guard let known, marker != known, try store.syncedCount() > 0 else { return }
        let isElsewhere = try store.meta(.fileSystem).map { $0 != fileSystem } ?? false
        throw SyncError(
            .rootReplaced,
            isElsewhere
                ? "'\(configuration.directory)' is on another disk than the mirror that was synced before; is its disk mounted?"
                : "'\(configuration.directory)' is not the mirror that was synced before: its marker is "
                    + (marker == nil ? "missing" : "another one's")
                    + "; restore the mirror, or remove '\(configuration.stateDirectory)' to start over with this one"
        )
    }

    /// Gives database and root the same identity and returns it; without a control directory nothing is written.
    func identify(_ control: ControlDirectory?, _ store: any TreeStore) throws -> String {
        let known = try store.meta(.mirrorID)
        let handle = try folder.stat().handle
        let id = known ?? ContentHasher.hash(Array("\(environment.disk.now()) \(handle)".utf8)).description
        guard let control else { return id }
        if try ControlDirectory.marker(in: folder) != id { try control.setMarker(id) }
        let fileSystem = try folder.fileSystem()
        if try known != id || store.meta(.fileSystem) != fileSystem {
            try store.transaction(durably: true) {
                try store.setMeta(.mirrorID, id)
                try store.setMeta(.fileSystem, fileSystem)
            }
        }
        return id
    }

    /// Checks that the root is still the one that was opened and the one at its path.
    ///
    /// - Throws: ``SyncError`` with the code `rootMissing` or `rootReplaced`.
    func check(_ store: any TreeStore) throws {
        let there = try Self.open(configuration, environment.disk)
        guard try there.stat().handle == folder.stat().handle, try there.fileSystem() == folder.fileSystem() else {
            throw SyncError(
                .rootReplaced, "the mirror '\(configuration.directory)' was replaced while it was being synced")
        }
        try Self.checkMarker(folder, store, configuration)
    }
}

extension TreeStore {
    /// Records an obstacle of the whole mirror, for status and `why`.
    func note(obstacle error: SyncError, at seconds: Int64) throws {
        if error.code == .cancelled { return }
        if try records(ObstacleRecord.self).first?.message == error.message { return }
        try transaction(durably: false) { try replace([ObstacleRecord(since: seconds, message: error.message)]) }
    }
}
