public import ByteClubCore

extension SyncEngine {
    /// The conflicts, the newest first, also those that arose on other machines; with `all`, the resolved ones too.
    ///
    /// - Throws: ``SyncError`` with the code `database` when the mirror's database cannot be read.
    public static func conflicts(
        of configuration: SyncConfiguration, all: Bool
    ) throws(SyncError) -> [SyncStatus.Conflict] {
        try configuration.read {
            try ConflictList(store: $0, directory: configuration.directory).conflicts(all: all)
        } ?? []
    }

    /// Resolves a conflict by changing files in the mirror; the next sync, or the running one, uploads the result.
    public static func resolve(
        _ conflict: SyncStatus.Conflict, keeping side: ConflictSide, of configuration: SyncConfiguration
    ) throws(SyncError) {
        do {
            if side != .both {
                try ConflictResolution(LinuxDisk(configuration.directory)).settle(conflict, keeping: side)
            }
        } catch {
            throw SyncError.wrapping(error)
        }
        _ = try configuration.change { store in
            if try !store.conflicts(all: true).contains(where: { $0.copy == conflict.copy }) {
                // It arose elsewhere; that it is settled is known here from now on.
                try store.addConflict(
                    ConflictRecord(path: conflict.path, copy: conflict.copy, winner: nil, loser: nil, at: conflict.at))
            }
            try store.resolveConflict(copy: conflict.copy)
        }
    }
}
