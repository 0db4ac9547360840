public import ByteClubCore

extension SyncEngine {
    /// Gives the word that held ignore rules wait for; the next sync, or the one that runs, goes by them.
    ///
    /// - Returns: The rules that were waiting; nil when none were.
    public static func approveRules(of configuration: SyncConfiguration) throws(SyncError) -> SyncStatus.HeldRules? {
        try configuration.change { store in
            guard let held = try store.records(HeldRules.self).first else { return nil }
            try store.setMeta(.approvedRules, held.hash)
            return SyncStatus.HeldRules(held)
        } ?? nil
    }

    /// Puts the ignore file back that holds instead of the rules that wait; theirs goes into the mirror's trash, and the
    /// next sync, or the one that runs, does the same on the server.
    ///
    /// - Returns: The rules that were waiting; nil when none were.
    public static func restoreRules(of configuration: SyncConfiguration) throws(SyncError) -> SyncStatus.HeldRules? {
        let found = try configuration.read { store in
            try store.records(HeldRules.self).first.map { ($0, try store.meta(.ignoreText) ?? "") }
        }
        guard let (held, text) = found ?? nil else { return nil }
        do {
            let files = try ConflictResolution(LinuxDisk(configuration.directory))
            try files.restore(IgnoreRules.fileName, to: Array(text.utf8))
        } catch {
            throw SyncError.wrapping(error)
        }
        configuration.nudge()
        return SyncStatus.HeldRules(held)
    }
}
