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
    let downloads: StagedDownloads
    let uploads: StagedUploads
    let installer: Installer
    let bulk: BulkInstaller
    let mover: Mover
    let deleter: Deleter
    let copier: ConflictCopier
    private let context: SyncContext
    private let remover: FolderRemover

    init(_ context: SyncContext, _ control: ControlDirectory, _ scanner: Scanner) {
        self.context = context
        self.control = control
        self.scanner = scanner
        scope = SyncScope(context, scanner)
        reader = FileReader(context, scanner)
        trash = TrashCan(context, control)
        downloads = StagedDownloads(context.store, control)
        uploads = StagedUploads(context.store, control)
        installer = Installer(context, control, trash)
        bulk = BulkInstaller(context, control, installer)
        mover = Mover(context)
        deleter = Deleter(context, control, installer, trash)
        copier = ConflictCopier(context, installer)
        remover = FolderRemover(context: context, control: control, installer: installer, trash: trash)
    }

    /// Recovers from a crash: classifies the files in staging; `busy` are the items of running transfers.
    ///
    /// - Throws: ``FileError`` when staging cannot be read, and the store's errors.
    func recover(besides busy: Set<ItemID>, _ report: inout SyncReport) throws {
        try Recovery(
            context: context, control: control, installer: installer, copier: copier, trash: trash,
            downloads: downloads, uploads: uploads
        ).run(besides: busy, &report)
    }

    /// Scans a part of the disk.
    ///
    /// - Throws: ``FileError`` when the root cannot be listed, and the store's errors; nothing is inferred then.
    func scan(_ request: ScanRequest, _ report: inout SyncReport) throws -> ScanReport {
        context.handles.forgetAll()
        switch request {
        case .files(let closed):
            let found = try scanner.scanFiles(closed, reader)
            report.rescans.formUnion(found.rescans)
            report.ready.formUnion(found.ready)
            try scope.ignoreFiles.noteOwnRules()
            return ScanReport(racyFiles: found.racy)
        case .folders(let folders):
            let found = try scanner.scan(.folders(folders), confirmsDeletions: false)
            try scope.ignoreFiles.noteOwnRules()
            return found
        case .everything(let confirms):
            scope.forgetCount()
            let found = try scanner.scan(.everything, confirmsDeletions: confirms)
            try scope.ignoreFiles.noteOwnRules()
            return found
        }
    }

    /// Does periodic maintenance: removes deselected folders and given-up downloads, and expires the trash; `busy` are
    /// the items of running transfers.
    ///
    /// - Throws: ``FileError`` and the store's errors; the next call continues.
    func maintain(besides busy: Set<ItemID>, _ report: inout SyncReport) throws {
        try scope.deselect(remover, &report)
        try downloads.removeUnwanted(besides: busy)
        try uploads.removeUnwanted(besides: busy)
        try trash.expire(&report)
    }
}
