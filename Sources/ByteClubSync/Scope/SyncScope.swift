import ByteClubCore
import Glibc

/// What is part of the mirror: the ignore file whose rules hold, and the folders that are left out by choice.
final class SyncScope {
    private let context: SyncContext
    private let scanner: Scanner
    private let ignoreFiles: IgnoreFileGate
    /// The ignore file whose rules hold.
    private var ignoreFile = IgnoreFile.none
    /// How the ignore file looked when it was read last; nil before that, and while the look may miss a write.
    private var ignoreLook: DiskLook?
    private var isLoaded = false
    /// Folders that are to be left out as soon as the server has everything in them.
    private var pendingDeselections: [PathKey] = []
    /// What the rules leave out, as of the last scan of everything; nil when that is to be counted.
    private var counted: SyncStatus.Ignored?

    private var store: any TreeStore { context.store }

    init(_ context: SyncContext, _ scanner: Scanner) {
        self.context = context
        self.scanner = scanner
        ignoreFiles = IgnoreFileGate(context)
    }

    /// Ignore rules that wait for somebody's word.
    var heldRules: HeldRules? { ignoreFiles.held }

    /// Whether the ignore file is not the one that was read last.
    func isStale() throws(FileError) -> Bool {
        guard isLoaded else { return true }
        let look = try context.root.entry(IgnoreRules.fileName)?.look
        if look == nil, ignoreLook == nil { return !ignoreFile.hash.isEmpty }
        return look == nil || look != ignoreLook
    }

    /// Reads what is kept out of the mirror, and brings the trees in line with it when that has changed.
    ///
    /// - Returns: Whether it has; then everything is to be scanned.
    func reload(_ deletions: inout DeletionGuard, _ report: inout SyncReport) throws -> Bool {
        let look = try context.root.entry(IgnoreRules.fileName)?.look
        var rules = ScanRules()
        let (oldHash, applied) = try appliedRules()
        let file = try ignoreFiles.file(
            inForce: oldHash, current: ignoreFile, rules: scanner.rules, &deletions, &report)
        rules.ignored = file.rules
        let wanted = try Selection(store).keys
        // What is on disk in a folder that is to be left out goes first, once the server has it all.
        rules.deselected = try wanted.filter { try applied.contains($0) || localFolder(at: $0) == nil }
        pendingDeselections = wanted.subtracting(rules.deselected).sorted { $0.string < $1.string }
        // Trees that were brought in line before the text was kept may lack the ignore file itself.
        let isOld = try !oldHash.isEmpty && store.meta(.ignoreText) == nil
        let isNew = file.hash != oldHash || rules.deselected != applied || isOld
        scanner.rules = rules
        if isNew {
            try apply(rules, file)
            counted = nil
        }
        ignoreFile = file
        ignoreLook = look.flatMap { $0.isRacy ? nil : $0 }
        isLoaded = true
        return isNew
    }

    /// Remembers ignore rules that somebody has written on this machine, before they are sent.
    func noteOwnRules() throws { try ignoreFiles.noteOwnRules() }

    /// Counts anew what the rules leave out, when that is asked for next.
    func forgetCount() { counted = nil }

    /// How many entries the rules leave out.
    func ignored() throws -> SyncStatus.Ignored {
        if let counted { return counted }
        let found = try store.ignored()
        counted = found
        return found
    }

    // MARK: Folders left out by choice

    /// Leaves folders out from now on that were waiting for it, those of which the server has everything; their files
    /// go into the trash.
    func deselect(_ remover: FolderRemover, _ report: inout SyncReport) throws {
        try resume(remover, &report)
        for key in pendingDeselections {
            guard let id = try localFolder(at: key) else { continue }
            var removal = FolderRemoval(store)
            guard try removal.gather(id, at: store.path(of: id, on: .local)) else { continue }
            scanner.rules.deselected.insert(key)
            try apply(scanner.rules, ignoreFile, removing: key)
            pendingDeselections.removeAll { $0 == key }
            try remover.remove(removal, &report)
        }
    }

    /// Goes on with removing a folder that is left out, after an engine was stopped at it.
    ///
    /// What the disk has is not in the tree any more: a file goes when the server shows the very content of it.
    private func resume(_ remover: FolderRemover, _ report: inout SyncReport) throws {
        guard let text = try store.meta(.departing) else { return }
        let key = PathKey(folded: text)
        guard scanner.rules.deselected.contains(key), let (folder, path) = try remoteFolder(at: key) else {
            return try store.setMeta(.departing, nil)
        }
        var removal = FolderRemoval(store)
        try removal.gatherRemote(folder, at: path)
        try remover.remove(removal.confirmed { try remover.lookAtStored($0) }, &report)
    }

    /// `removing` is a folder whose files are to be removed from the disk next.
    private func apply(_ rules: ScanRules, _ file: IgnoreFile, removing: PathKey? = nil) throws {
        try store.transaction(durably: true) {
            try ExclusionPass(store: store, rules: rules).run()
            try store.setMeta(.rules, file.hash.isEmpty ? nil : file.hash)
            try store.replace(rules.deselected.sorted { $0.string < $1.string }.map { LeftOutFolder($0) })
            try store.setMeta(.ignoreText, file.text)
            if let removing { try store.setMeta(.departing, removing.string) }
        }
        context.handles.forgetAll()
    }

    private func appliedRules() throws -> (hash: String, deselected: Set<PathKey>) {
        (try store.meta(.rules) ?? "", Set(try store.records(LeftOutFolder.self).map(\.key)))
    }

    /// The folder on disk that has a path by its keys; nil when none has.
    private func localFolder(at key: PathKey) throws -> ItemID? {
        var found = ItemID.root
        for name in key.string.utf8.split(separator: UInt8(ascii: "/")) {
            let children = try store.children(of: found, key: String(Substring(name)), on: .local)
            guard let next = children.first(where: \.isFolder) else { return nil }
            found = next.id
        }
        return found == .root ? nil : found
    }

    /// The folder that the server shows at a path by its keys, with the path as it is spelled there.
    private func remoteFolder(at key: PathKey) throws -> (id: ItemID, path: String)? {
        var (found, path) = (ItemID.root, "")
        for name in key.string.utf8.split(separator: UInt8(ascii: "/")) {
            let children = try store.children(of: found, key: String(Substring(name)), on: .remote)
            guard let next = children.first(where: \.isFolder), let place = next.remote?.place else { return nil }
            (found, path) = (next.id, LocalPath.join(path, place.name.text))
        }
        return found == .root ? nil : (found, path)
    }
}

/// Removes the files of folders that are left out from the disk.
final class FolderRemover {
    private let context: SyncContext
    private let control: ControlDirectory
    private let installer: Installer
    private let trash: TrashCan

    init(_ context: SyncContext, _ control: ControlDirectory, _ installer: Installer, _ trash: TrashCan) {
        self.context = context
        self.control = control
        self.installer = installer
        self.trash = trash
    }

    /// Puts the files of a folder that was left out into the trash; what has changed in the last moment stays, and what
    /// the disk refuses is tried again.
    func remove(_ removal: FolderRemoval, _ report: inout SyncReport) throws {
        var isDone = true
        for file in removal.files {
            do throws(FileError) {
                let folder = try context.root.folder(below: LocalPath.split(file.path).parent)
                guard let look = file.look, try folder.entry(file.name)?.look.isUntouched(since: look) == true else {
                    continue
                }
                let leaving = StagedName.leaving(file.item, expected: file.hash).text
                try folder.rename(file.name, to: control.staging, leaving, .withoutReplacing)
                if try installer.isStill(look, file.hash, leaving) {
                    try trash.take(staged: leaving, of: file.item, as: file.path)
                } else {
                    try control.staging.rename(leaving, to: folder, file.name, .withoutReplacing)
                }
            } catch {
                if !error.isMissing { isDone = false }
            }
        }
        for path in removal.folders {
            let (parent, name) = LocalPath.split(path)
            do throws(FileError) {
                try context.root.folder(below: parent).removeFolder(name)
            } catch {
                if !error.isMissing, error.code != ENOTEMPTY, error.code != EEXIST { isDone = false }
            }
        }
        try context.root.syncFileSystem()
        if isDone { try context.store.setMeta(.departing, nil) } else { report.needsRecovery = true }
    }

    /// How a file looks whose content is the one that the server has; nil when it is another or gone.
    func lookAtStored(_ file: FolderRemoval.File) throws -> DiskLook? {
        guard let folder = try? context.root.folder(below: LocalPath.split(file.path).parent),
            let open = try? folder.open(file.name), let look = try? open.look(), !open.isBeingWritten
        else { return nil }
        return try Scanner.hash(open) == file.hash ? look : nil
    }
}

extension DiskFolder {
    /// Opens a folder below it, by its path.
    func folder(below path: String) throws(FileError) -> any DiskFolder {
        var current: any DiskFolder = self
        for name in path.utf8.split(separator: UInt8(ascii: "/")) {
            current = try current.folder(String(Substring(name)))
        }
        return current
    }
}

extension DiskLook {
    /// Whether it is the same file, and nothing at all has happened to it.
    func isUntouched(since other: DiskLook) -> Bool {
        handle == other.handle && fingerprint.isUntouched(since: other.fingerprint)
    }
}
