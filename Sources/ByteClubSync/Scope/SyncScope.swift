import ByteClubCore

/// The extent of the mirror: the ignore rules in force, and the deselected folders.
final class SyncScope {
    private let context: SyncContext
    private let scanner: Scanner
    let ignoreFiles: IgnoreFileGate
    /// The ignore file in force.
    private var ignoreFile = IgnoreFile.none
    /// The stat of the ignore file when it was last read; nil before that, and while the stat is racy.
    private var ignoreStat: FileStat?
    private var isLoaded = false
    /// Folders that are deselected as soon as the server has everything in them.
    private var pendingDeselections: [PathKey] = []
    /// The number of ignored entries as of the last full scan; nil when it must be counted.
    private var counted: SyncStatus.Ignored?

    private var store: any TreeStore { context.store }

    init(_ context: SyncContext, _ scanner: Scanner) {
        self.context = context
        self.scanner = scanner
        ignoreFiles = IgnoreFileGate(context)
    }

    /// Whether the ignore file is not the one that was read last.
    func isStale() throws(FileError) -> Bool {
        guard isLoaded else { return true }
        let stat = try context.root.entry(IgnoreRules.fileName)?.stat
        if stat == nil, ignoreStat == nil { return !ignoreFile.hash.isEmpty }
        return stat == nil || stat != ignoreStat
    }

    /// Reads the ignore file and the selection, and applies changes to the trees.
    ///
    /// - Returns: Whether they have changed; then a full scan is needed.
    /// - Throws: ``FileError`` when the ignore file cannot be read, and the store's errors.
    func reload(_ deletions: inout DeletionGuard, _ report: inout SyncReport) throws -> Bool {
        let stat = try context.root.entry(IgnoreRules.fileName)?.stat
        var rules = ScanRules()
        let oldHash = try store.meta(.rules) ?? ""
        let applied = Set(try store.records(LeftOutFolder.self).map(\.key))
        let file = try ignoreFiles.file(
            inForce: oldHash, current: ignoreFile, rules: scanner.rules, &deletions, &report)
        rules.ignored = file.rules
        let wanted = try Selection(store).keys
        // A folder's files are removed from the disk first, once the server has them all.
        rules.deselected = try wanted.filter { try applied.contains($0) || store.folder(at: $0, on: .local) == nil }
        pendingDeselections = wanted.subtracting(rules.deselected).sorted { $0.string < $1.string }
        // Trees from before the text was stored may lack the ignore file itself.
        let isOld = try !oldHash.isEmpty && store.meta(.ignoreText) == nil
        // The program that synced last may have left out other temporary files.
        let hasOldDefaults = try store.meta(.defaultRules) != IgnoreRules.defaults
        let isNew = file.hash != oldHash || rules.deselected != applied || isOld || hasOldDefaults
        scanner.rules = rules
        if isNew {
            try apply(rules, file)
            counted = nil
        }
        ignoreFile = file
        ignoreStat = stat.flatMap { $0.isRacy ? nil : $0 }
        isLoaded = true
        return isNew
    }

    /// Drops the cached number of ignored entries.
    func forgetCount() { counted = nil }

    /// How many entries the rules ignore.
    func ignored() throws -> SyncStatus.Ignored {
        if let counted { return counted }
        let found = try store.ignored()
        counted = found
        return found
    }

    // MARK: Folders left out by choice

    /// Deselects the pending folders of which the server has everything; their files are moved to the trash.
    func deselect(_ remover: FolderRemover, _ report: inout SyncReport) throws {
        try resume(remover, &report)
        for key in pendingDeselections {
            guard let id = try store.folder(at: key, on: .local)?.id else { continue }
            var removal = FolderRemoval(store)
            guard try removal.gather(id, at: store.path(of: id, on: .local)) else { continue }
            scanner.rules.deselected.insert(key)
            try apply(scanner.rules, ignoreFile, removing: key)
            pendingDeselections.removeAll { $0 == key }
            try remover.remove(removal, &report)
        }
    }

    /// Continues the removal of a deselected folder that a crash has interrupted.
    ///
    /// The files are not in the local tree any more: a file is removed when the server has the same content.
    private func resume(_ remover: FolderRemover, _ report: inout SyncReport) throws {
        guard let text = try store.meta(.pendingDeselection) else { return }
        let key = PathKey(folded: text)
        guard scanner.rules.deselected.contains(key), let folder = try store.folder(at: key, on: .remote)?.id else {
            return try store.setMeta(.pendingDeselection, nil)
        }
        var removal = FolderRemoval(store)
        try removal.gatherRemote(folder, at: store.path(of: folder, on: .remote))
        try remover.remove(removal.confirmed { try remover.statOfStored($0) }, &report)
    }

    /// `removing` is a folder whose files are to be removed from the disk next.
    private func apply(_ rules: ScanRules, _ file: IgnoreFile, removing: PathKey? = nil) throws {
        try store.transaction(durably: true) {
            try ExclusionPass(store: store, rules: rules).run()
            try store.setMeta(.rules, file.hash.isEmpty ? nil : file.hash)
            try store.replace(rules.deselected.sorted { $0.string < $1.string }.map { LeftOutFolder($0) })
            try store.setMeta(.ignoreText, file.text)
            try store.setMeta(.defaultRules, IgnoreRules.defaults)
            if let removing { try store.setMeta(.pendingDeselection, removing.string) }
        }
        context.handles.forgetAll()
    }
}

/// The deselected folders of a mirror.
struct Selection: Sendable {
    /// The folders' keys, relative to the mirror's root.
    private(set) var keys: Set<PathKey>

    init(_ keys: Set<PathKey> = []) { self.keys = keys }

    /// Reads it from the database.
    init(_ store: some TreeStore) throws { keys = Set(try store.records(DeselectedFolder.self).map(\.key)) }

    /// Saves it in the database.
    func save(in store: some TreeStore) throws {
        try store.replace(keys.sorted { $0.string < $1.string }.map { DeselectedFolder($0) })
    }

    /// Deselects a folder, and those in it with it.
    mutating func leaveOut(_ key: PathKey) {
        if keys.contains(where: { key.isBelow($0) }) { return }
        keys = keys.filter { !$0.isBelow(key) }
        keys.insert(key)
    }

    /// Selects a folder again with those in it; false when one above it is deselected.
    mutating func takeIn(_ key: PathKey) -> Bool {
        keys = keys.filter { $0 != key && !$0.isBelow(key) }
        return !keys.contains { key.isBelow($0) }
    }
}
