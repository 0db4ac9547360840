import ByteClubCore

/// Brings the tree of the disk up to date with the disk.
///
/// A scan trusts nothing but what it sees: a folder whose seal is the stored one has not changed, every other one is
/// listed and compared. Nothing is inferred from an event, or from a folder that could not be listed.
final class Scanner {
    /// How many items are written in one transaction.
    static let batchSize = 5_000

    let root: any DiskFolder
    let store: any TreeStore
    /// Which entries belong to the mirror; after a change of them, all seals must be forgotten.
    var rules: ScanRules
    /// Is called with each folder before it is looked at, and whether it may be another one than at the last scan.
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

    /// Looks at a part of the mirror; throws ``FileError`` when the root itself cannot be listed, and has then inferred
    /// nothing.
    ///
    /// With `confirmsDeletions`, what is gone and was found nowhere in two looks is taken to be deleted. Otherwise, and
    /// when something cannot be looked at for the first time, it stays in the tree and is reported, so that another scan
    /// can look for it. What was found again by its content has been moved.
    func scan(_ scope: ScanScope, confirmsDeletions: Bool) throws -> ScanReport {
        let pass = try ScanPass(self)
        try run(pass, scope)
        let missed = pass.missing()
        guard confirmsDeletions, !pass.report.isUnsure, !missed.isEmpty else { return pass.result(vanished: missed) }
        // What was moved from a folder that was seen late to one that was seen early is found by a second look.
        let again = try ScanPass(self, after: pass)
        try run(again, pass.widened(scope))
        if again.report.isUnsure { return again.result(vanished: again.missing()) }
        let gone = again.missing(like: pass)
        let relocations = try Relocations(self, gone)
        try store.transaction(durably: false) { try again.settle(gone, relocations) }
        try again.watch(relocations.target.keys.sorted())
        let dropped = Set(gone)
        return again.result(vanished: again.missing().filter { !dropped.contains($0) })
    }

    private func run(_ pass: ScanPass, _ scope: ScanScope) throws {
        try pass.start(scope)
        while pass.isUnfinished { try store.transaction(durably: false) { try pass.advance() } }
    }
}
