public import ByteClubCore

extension SyncEngine {
    /// Approves the held ignore rules; the next sync, or the running one, applies them.
    ///
    /// - Returns: The rules that were held; nil when none were.
    /// - Throws: ``SyncError`` with the code `database` when the mirror's database cannot be changed.
    public static func approveRules(of configuration: SyncConfiguration) throws(SyncError) -> SyncStatus.HeldRules? {
        try configuration.change { store in
            guard let held = try store.records(HeldRulesRecord.self).first else { return nil }
            try store.setMeta(.approvedRules, held.hash)
            return SyncStatus.HeldRules(held)
        } ?? nil
    }

    /// Restores the ignore file that is in force in place of the held one, which is moved to the mirror's trash; the
    /// next sync, or the running one, uploads it.
    ///
    /// - Returns: The rules that were held; nil when none were.
    /// - Throws: ``SyncError`` with the code `database` when the mirror's database cannot be changed.
    public static func restoreRules(of configuration: SyncConfiguration) throws(SyncError) -> SyncStatus.HeldRules? {
        let found = try configuration.read { store in
            try store.records(HeldRulesRecord.self).first.map { ($0, try store.meta(.ignoreText) ?? "") }
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
