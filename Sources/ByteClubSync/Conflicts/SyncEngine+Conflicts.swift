public import ByteClubCore

extension SyncEngine {
    /// The conflicts, the newest first; with `all`, the resolved ones too.
    ///
    /// - Throws: ``SyncError`` with the code `database` when the mirror's database cannot be read.
    public static func conflicts(
        of configuration: SyncConfiguration, all: Bool
    ) throws(SyncError) -> [SyncStatus.Conflict] {
        try configuration.read { try $0.conflicts(all: all).map(SyncStatus.Conflict.init) } ?? []
    }

    /// Resolves a conflict by changing files in the mirror; the next sync, or the running one, uploads the result.
    public static func resolve(
        _ conflict: SyncStatus.Conflict, keeping side: ConflictSide, of configuration: SyncConfiguration
    ) throws(SyncError) {
        do {
            if side != .both {
                try ConflictResolution(LinuxDisk(configuration.directory))
                    .settle(path: conflict.path, copy: conflict.copy, keeping: side)
            }
        } catch {
            throw SyncError.wrapping(error)
        }
        _ = try configuration.change { try $0.resolveConflict(copy: conflict.copy) }
    }
}
