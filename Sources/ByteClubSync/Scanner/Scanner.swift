import ByteClubCore

/// Updates the local tree from the disk.
///
/// A scan relies on observation alone: a folder whose fingerprint equals the stored one has not changed, every other
/// one is listed and compared. Nothing is inferred from an event, or from a folder that could not be listed (invariant
/// I8).
final class Scanner {
    /// How many items are written in one transaction.
    static let batchSize = 5_000

    let root: any DiskFolder
    let store: any TreeStore
    /// Which entries belong to the mirror; after a change, all known listings must be invalidated.
    var rules: ScanRules
    /// Whether entries that were renamed to unsynced names count as deleted.
    var approvesDeletions = false
    /// Called with each folder before it is scanned, and whether it may be another one than at the last scan.
    let watch: (_ folder: any DiskFolder, _ item: ItemID, _ isNew: Bool) -> Void

    init(
        root: any DiskFolder, store: any TreeStore, rules: ScanRules = ScanRules(),
        watch: @escaping (_ folder: any DiskFolder, _ item: ItemID, _ isNew: Bool) -> Void = { _, _, _ in }
    ) {
        self.root = root
        self.store = store
        self.rules = rules
        self.watch = watch
    }

    /// Scans a part of the mirror.
    ///
    /// With `confirmsDeletions`, items that two passes did not find anywhere count as deleted. Otherwise, and when
    /// something has become unreadable, they stay in the tree and are reported, so that another scan can look for them.
    /// An entry that is found again by its content was moved.
    ///
    /// - Throws: ``FileError`` when the root itself cannot be listed, and the store's errors; nothing is inferred then.
    func scan(_ scope: ScanScope, confirmsDeletions: Bool) throws -> ScanReport {
        let pass = try ScanPass(self)
        if pass.moves.count > 0 { try store.transaction(durably: false) { try pass.moves.review(pass) } }
        try run(pass, scope)
        let missed = pass.missing()
        guard confirmsDeletions, !pass.report.isUnsure, !missed.isEmpty else { return pass.result(vanished: missed) }
        // A second pass finds entries that were moved from a folder scanned late to one scanned early.
        let again = try ScanPass(self, after: pass)
        try run(again, pass.widened(scope))
        if again.report.isUnsure { return again.result(vanished: again.missing()) }
        let gone = again.missing(like: pass)
        let held = gone.isEmpty ? [] : try store.transaction(durably: false) { try again.moves.hold(gone, again) }
        let lost = gone.filter { !held.contains($0) }
        let relocations = try Relocations(self, lost)
        try store.transaction(durably: false) { try again.settle(lost, relocations) }
        try again.watch(relocations.target.keys.sorted())
        let dropped = Set(gone)
        return again.result(vanished: again.missing().filter { !dropped.contains($0) })
    }

    private func run(_ pass: ScanPass, _ scope: ScanScope) throws {
        try pass.start(scope)
        while pass.isUnfinished { try store.transaction(durably: false) { try pass.advance() } }
        guard scope == .everything else { return }
        let strays = try pass.problems.strays()
        let leftOut = try LeftOutFiles(scanner: self, moves: pass.moves).problems()
        if strays.isEmpty, leftOut.isEmpty { return }
        try store.transaction(durably: false) {
            let kept = Set(leftOut.map(\.path))
            for folder in strays { try pass.problems.keepOnly(kept, in: folder) }
            for problem in leftOut { try pass.problems.set(problem.path, nil, problem.message) }
        }
    }
}

/// The results of a scan.
struct ScanReport: Hashable, Sendable {
    /// Items that are new.
    var created = 0
    /// Items that are at another location.
    var moved = 0
    /// Files whose content may have changed.
    var edited = 0
    /// Items that were removed from the tree, with those in folders.
    var deleted = 0
    /// Folders that were scanned.
    var folders = 0
    /// Folders that were listed, since their fingerprints had changed or were unknown.
    var listed = 0
    /// Paths with which something is wrong, in this part of the mirror or another.
    var problems = 0
    /// Whether all folders of the scope could be scanned.
    var isComplete = true
    /// Whether something became unreadable: missing items may be in it.
    var isUnsure = false
    /// Items that are no longer where they were and have not been found elsewhere, in the order of their identities.
    ///
    /// The tree still has them.
    var vanished: [ItemID] = []
    /// Folders whose fingerprint cannot be trusted yet, since something in them changed just now.
    var racyFolders: Set<ItemID> = []
    /// Racy files that were scanned by themselves.
    var racyFiles: ClosedFiles = [:]

    /// Whether anything may have become unsettled, or a problem must be reported.
    var hasChanges = false
}
