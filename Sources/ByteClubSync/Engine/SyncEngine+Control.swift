public import ByteClubCore

extension SyncEngine {
    /// Pauses the mirror for a time, or until it is resumed; a running engine finishes its current step.
    ///
    /// - Throws: ``SyncError`` with the code `configuration` when the mirror was never synced.
    public static func pause(_ configuration: SyncConfiguration, for time: Duration?) throws(SyncError) {
        let until = time.map { "\(WallClock.now() / 1_000_000_000 + max(1, $0.components.seconds))" } ?? "forever"
        let isKnown: Void? = try configuration.change { store in try store.setMeta(.pausedUntil, until) }
        if isKnown == nil {
            throw SyncError(.configuration, "'\(configuration.directory)' was never synced; there is nothing to pause")
        }
    }

    /// Ends a pause; a running engine continues at once.
    ///
    /// - Returns: Whether the mirror was paused.
    @discardableResult
    public static func resume(_ configuration: SyncConfiguration) throws(SyncError) -> Bool {
        try configuration.change { store in
            let wasPaused = try store.meta(.pausedUntil) != nil
            try store.setMeta(.pausedUntil, nil)
            return wasPaused
        } ?? false
    }

    // MARK: The selection

    /// Deselects a folder: its files are removed from this disk once the server has all of them, and stay on the
    /// server.
    ///
    /// `path` is relative to the mirror's root.
    ///
    /// - Throws: ``SyncError`` with the code `configuration` for a mirror that was never synced, or its root.
    public static func deselect(_ path: String, of configuration: SyncConfiguration) throws(SyncError) {
        try change(path, configuration) { selection, key throws(SyncError) in selection.leaveOut(key) }
    }

    /// Selects a deselected folder again: the next sync downloads its files.
    ///
    /// - Throws: ``SyncError`` with the code `configuration` when a folder above it is left out.
    public static func select(_ path: String, of configuration: SyncConfiguration) throws(SyncError) {
        try change(path, configuration) { selection, key throws(SyncError) in
            if !selection.takeIn(key) {
                throw SyncError(.configuration, "a folder above '\(path)' is excluded; select that one")
            }
        }
    }

    /// The deselected folders, as path keys relative to the mirror's root, without a leading slash.
    ///
    /// - Throws: ``SyncError`` with the code `database` when the mirror's database cannot be read.
    public static func deselected(of configuration: SyncConfiguration) throws(SyncError) -> [String] {
        let selection = try configuration.read { store in try Selection(store) } ?? Selection()
        return selection.keys.map { String($0.string.dropFirst()) }.sorted()
    }

    private static func change(
        _ path: String, _ configuration: SyncConfiguration,
        _ change: @Sendable (inout Selection, PathKey) throws(SyncError) -> Void
    ) throws(SyncError) {
        let names = path.split(separator: "/").filter { $0 != "." }
        if names.isEmpty || names.contains("..") {
            throw SyncError(.configuration, "'\(path)' is not a folder in the mirror")
        }
        let key = PathKey(folded: "/" + PathKey.fold(names.joined(separator: "/")))
        let isKnown: Void? = try configuration.change { store in
            var selection = try Selection(store)
            try change(&selection, key)
            try selection.save(in: store)
        }
        if isKnown == nil {
            throw SyncError(.configuration, "'\(configuration.directory)' was never synced; sync it first")
        }
    }

    // MARK: Held deletions

    /// Approves the held deletions; the next sync, or the running one, carries them out.
    ///
    /// Earlier deletions that are still to be restored are not restored any more.
    ///
    /// - Returns: The deletions that were held, and the earlier ones that were still to be restored.
    /// - Throws: ``SyncError`` with the code `database` when the mirror's database cannot be changed.
    public static func approveDeletions(
        of configuration: SyncConfiguration
    ) throws(SyncError) -> [SyncStatus.HeldDeletion] {
        try configuration.change { try approveDeletions(in: $0, at: WallClock.now() / 1_000_000_000) } ?? []
    }

    /// Approves the held deletions of a database.
    static func approveDeletions(in store: some TreeStore, at now: Int64) throws -> [SyncStatus.HeldDeletion] {
        let givenUp = try store.records(SentDeletion.self).filter(\.isWanted)
        for sent in givenUp { try store.forget(sent) }
        let done = givenUp.map { SyncStatus.HeldDeletion($0, at: now) }
        let held = try store.heldDeletions()
        if held.isEmpty { return done }
        let moved = Set(try store.unsyncedMoves().compactMap(\.item))
        for deletion in held {
            try store.save(ApprovedDeletion(deletion.item))
            if moved.contains(deletion.item) { try store.letGo(deletion.item) }
        }
        // An approved deletion makes no later one doubtful.
        try store.forgetWave()
        return held.map(SyncStatus.HeldDeletion.init) + done
    }

    /// Cancels the held deletions: the next sync restores their entries from the other side.
    ///
    /// Entries that the same wave had deleted on the server before are restored from the server's history.
    ///
    /// - Returns: The deletions that were held, and the earlier ones.
    /// - Throws: ``SyncError`` with the code `database` when the mirror's database cannot be changed.
    public static func restoreDeletions(
        of configuration: SyncConfiguration
    ) throws(SyncError) -> [SyncStatus.HeldDeletion] {
        try configuration.change { try restoreDeletions(in: $0, at: WallClock.now() / 1_000_000_000) } ?? []
    }

    /// Cancels the held deletions of a database.
    static func restoreDeletions(in store: some TreeStore, at now: Int64) throws -> [SyncStatus.HeldDeletion] {
        let held = try store.heldDeletions()
        let moved = Set(try store.unsyncedMoves().compactMap(\.item))
        for deletion in held {
            if moved.contains(deletion.item) { try store.letGo(deletion.item) }
            try restore(deletion.item, keptOn: deletion.side, in: store)
        }
        try store.setAll([HeldDeletionRecord]())
        if held.isEmpty { return [] }
        try store.replace([ApprovedDeletion]())
        var restored = held.map(SyncStatus.HeldDeletion.init)
        guard held.contains(where: { $0.side == .remote }) else { return restored }
        for var sent in try store.records(SentDeletion.self) {
            guard !sent.isWanted, try store.item(sent.item)?.remote == nil else { continue }
            sent.isWanted = true
            try store.save(sent)
            restored.append(SyncStatus.HeldDeletion(sent, at: now))
        }
        try store.forgetWave()
        return restored
    }

    /// Forgets the merge bases of an entry and of its contents where one side has lost them, so that they are new on
    /// the side that kept them.
    private static func restore(_ top: ItemID, keptOn side: Side, in store: some TreeStore) throws {
        var rest = [top]
        while let id = rest.popLast() {
            guard let item = try store.item(id), item.synced != nil else { continue }
            if item.location(on: side) == nil || item.location(on: side.other) != nil { continue }
            _ = try store.editing { editor in try editor.forgetBase(id) }
            rest += try store.children(of: id, on: side).map(\.id)
        }
    }

    // MARK: Held rules

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

    /// Replaces the held ignore file by the one in force, which the next sync, or the running one, uploads.
    ///
    /// The held file is moved to the mirror's trash.
    ///
    /// - Returns: The rules that were held; nil when none were.
    /// - Throws: ``SyncError`` with the code `database` when the mirror's database cannot be changed.
    public static func restoreRules(of configuration: SyncConfiguration) throws(SyncError) -> SyncStatus.HeldRules? {
        let found = try configuration.read { store in
            try store.records(HeldRulesRecord.self).first.map { ($0, try store.meta(.ignoreText) ?? "") }
        }
        guard let (held, text) = found ?? nil else { return nil }
        try SyncError.wrapped {
            let files = try ConflictResolution(LinuxDisk(configuration.directory))
            try files.restore(IgnoreRules.fileName, to: Array(text.utf8))
        }
        configuration.nudge()
        return SyncStatus.HeldRules(held)
    }
}

extension TreeStore {
    /// Until when syncing is paused, in seconds since 1970, or `Int64.max` until it is resumed; nil when it is not.
    ///
    /// A pause that is over is forgotten.
    func pausedUntil(at seconds: Int64) throws -> Int64? {
        guard let text = try meta(.pausedUntil) else { return nil }
        if text == "forever" { return .max }
        if let until = Int64(text), until > seconds { return until }
        try setMeta(.pausedUntil, nil)
        return nil
    }
}

extension SyncStatus.HeldDeletion {
    /// A deletion that was carried out before others of its wave were held.
    fileprivate init(_ sent: SentDeletion, at now: Int64) {
        self.init(path: sent.path, side: "remote", since: now, isDone: true)
    }
}
