import ByteClubCore

/// The mirror on this machine's disk: scans it, and applies the server's changes to it.
///
/// It decides nothing. Its results go into a ``SyncReport``; each of its parts owns its own state.
final class LocalReplica {
    let scanner: Scanner
    let scope: SyncScope
    let reader: FileReader
    let control: ControlDirectory
    let trash: TrashCan
    let staged: StagedTransfers
    let installer: Installer
    let bulk: BulkInstaller
    let mover: Mover
    let deleter: Deleter
    let context: SyncContext
    private let remover: FolderRemover

    init(_ context: SyncContext, _ control: ControlDirectory, _ scanner: Scanner) {
        self.context = context
        self.control = control
        self.scanner = scanner
        scope = SyncScope(context, scanner)
        reader = FileReader(context, scanner)
        trash = TrashCan(context, control)
        staged = StagedTransfers(context.store, control)
        installer = Installer(context, control, trash)
        bulk = BulkInstaller(context, control, installer)
        mover = Mover(context: context)
        deleter = Deleter(context, control, installer, trash)
        remover = FolderRemover(context: context, control: control, installer: installer, trash: trash)
    }

    /// Scans a part of the disk.
    ///
    /// - Throws: ``FileError`` when the root cannot be listed, and the store's errors; nothing is inferred then.
    func scan(_ request: ScanRequest, _ report: inout SyncReport) throws -> ScanReport {
        context.handles.forgetAll()
        let found: ScanReport
        switch request {
        case .files(let closed):
            let files = try scanner.scanFiles(closed, reader)
            report.rescans.formUnion(files.rescans)
            report.ready.formUnion(files.ready)
            found = ScanReport(racyFiles: files.racy)
        case .folders(let folders): found = try scanner.scan(.folders(folders), confirmsDeletions: false)
        case .everything(let confirms):
            scope.forgetCount()
            found = try scanner.scan(.everything, confirmsDeletions: confirms)
        }
        try scope.ignoreFiles.noteOwnRules()
        return found
    }

    /// Does periodic maintenance: removes deselected folders and given-up downloads, and expires the trash; `busy` are
    /// the items of running transfers.
    ///
    /// - Throws: ``FileError`` and the store's errors; the next call continues.
    func maintain(besides busy: Set<ItemID>, _ report: inout SyncReport) throws {
        try scope.deselect(remover, &report)
        try staged.removeUnwanted(besides: busy)
        try trash.expire(&report)
    }
}
