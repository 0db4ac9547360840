import ByteClubCore

/// The mirror on this machine's disk: it is scanned, and what the server shows is brought to it.
///
/// It decides nothing. What it finds out and does goes into a ``SyncReport``; each of its parts owns its own state.
final class LocalReplica {
    let scanner: Scanner
    let scope: SyncScope
    let reader: FileReader
    let control: ControlDirectory
    let trash: TrashCan
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
        installer = Installer(context, control, trash)
        bulk = BulkInstaller(context, control, installer)
        mover = Mover(context)
        deleter = Deleter(context, control, installer, trash)
        copier = ConflictCopier(context, installer)
        remover = FolderRemover(context, control, installer, trash)
    }

    /// Classifies what an engine that was stopped has left; `busy` are the items of large files on their way.
    func recover(besides busy: Set<ItemID>, _ report: inout SyncReport) throws {
        try Recovery(context: context, control: control, installer: installer, copier: copier, trash: trash)
            .run(besides: busy, &report)
    }

    /// Scans a part of the disk.
    func scan(_ request: ScanRequest, _ report: inout SyncReport) throws -> ScanReport {
        context.handles.forgetAll()
        switch request {
        case .files(let closed):
            let found = try scanner.scanFiles(closed, reader)
            report.rescans.formUnion(found.rescans)
            report.ready.formUnion(found.ready)
            try scope.noteOwnRules()
            return ScanReport()
        case .folders(let folders):
            let found = try scanner.scan(.folders(folders), confirmsDeletions: false)
            try scope.noteOwnRules()
            return found
        case .everything(let confirms):
            scope.forgetCount()
            let found = try scanner.scan(.everything, confirmsDeletions: confirms)
            try scope.noteOwnRules()
            return found
        }
    }

    /// Does what is due now and then: folders that were deselected go, and what is old in the trash.
    func maintain(_ report: inout SyncReport) throws {
        try scope.deselect(remover, &report)
        try trash.expire(&report)
    }
}
