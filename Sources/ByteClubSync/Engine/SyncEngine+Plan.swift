public import ByteClubCore
import Glibc

extension SyncEngine {
    /// What ``runOnce(_:)`` would do first, as the events that it would tell; changes neither side nor the state.
    ///
    /// - Throws: ``SyncError``.
    public func plan() async throws(SyncError) -> [SyncEvent] {
        do {
            var surroundings = try Surroundings(configuration)
            let database = configuration.databasePath
            surroundings.openStore = { try SQLiteTreeStore.rehearsal(path: database) }
            if isNew { surroundings.disk = LinuxDisk(try Self.emptyDirectory()) }
            let mirror = try Mirror(configuration, remote, surroundings, Tally { _ in }, isRehearsal: true)
            let events = try await mirror.rehearse()
            try await mirror.close()
            return events
        } catch {
            throw SyncError.wrapping(error)
        }
    }
}

extension SyncEngine {
    /// Whether there is neither a mirror nor a database yet.
    var isNew: Bool {
        unsafe access(configuration.directory, F_OK) != 0 && access(configuration.databasePath, F_OK) != 0
    }

    /// A directory in which nothing is: the mirror as it would begin.
    private static func emptyDirectory() throws(FileError) -> String {
        let path = "/tmp/byteclub-nothing-\(getuid())"
        try MirrorLock.makeDirectories(path, mode: 0o700)
        return path
    }
}

extension Mirror {
    /// Looks at both sides and tells what would be done.
    func rehearse() async throws -> [SyncEvent] {
        _ = try loadRules()
        _ = try scanner.scan(.everything, confirmsDeletions: true)
        try await pull()
        var events: [SyncEvent] = []
        var chunks = UnsettledChunks(store, of: 4_096)
        while let chunk = try chunks.next() {
            var progress = Progress()
            let plan = try readAndPlan(chunk.map(\.id), &progress)
            for operation in plan.operations {
                if let event = try event(operation) { events.append(event) }
            }
        }
        return events
    }

    /// The event that an operation would be; nil for what has no effect.
    private func event(_ operation: Operation) throws -> SyncEvent? {
        let path = try shownPath(of: operation.item)
        let target = { (place: Place) in
            LocalPath.join(try self.shownPath(of: place.parent), place.name.text)
        }
        switch operation {
        case .adopt, .forget, .revoke, .unify: return nil
        case .makeFolder: return SyncEvent(.makeLocalFolder, path: path)
        case .moveLocal(_, let place): return SyncEvent(.moveLocal, path: try target(place), from: path)
        case .download: return SyncEvent(.download, path: path)
        case .discard: return SyncEvent(.deleteLocal, path: path)
        case .reconcile(_, let name):
            return SyncEvent(.conflict, path: path, copy: LocalPath.join(LocalPath.split(path).parent, name.text))
        case .makeRemoteFolder: return SyncEvent(.makeRemoteFolder, path: path)
        case .upload: return SyncEvent(.upload, path: path)
        case .moveRemote(_, let place):
            return SyncEvent(.moveRemote, path: try target(place), from: try self.path(of: operation.item, on: .remote))
        case .deleteRemote: return SyncEvent(.deleteRemote, path: path)
        }
    }
}
