import ByteClubCore

/// Installs many new files as a pipeline: one group is written and synced while the previous one is renamed into place,
/// and one syncfs(2) covers the contents of a group and the names of the previous one.
final class BulkInstaller {
    /// From how many files or bytes on they are written and synced in the background.
    private static let manyFiles = 64
    private static let manyBytes: Int64 = 16 << 20

    /// A group that is being written.
    private struct Group {
        let items: Set<ItemID>
        let written: Written
        let syncing: Task<Void, any Error>
    }

    private struct Written: Sendable {
        var contents: [StagedContent] = []
        var failures: [(item: ItemID, error: FileError)] = []
    }

    private let context: SyncContext
    private let control: ControlDirectory
    private let installer: Installer
    private var underWay: Group?
    /// Installed files whose names are not known to be durable yet.
    private var placed: [InstalledFile] = []

    init(_ context: SyncContext, _ control: ControlDirectory, _ installer: Installer) {
        self.context = context
        self.control = control
        self.installer = installer
    }

    /// The items whose files are being installed.
    var items: Set<ItemID> { (underWay?.items ?? []).union(placed.map(\.content.item)) }

    /// Installs new contents, large numbers in the background; ``settle(_:)`` completes those.
    ///
    /// - Throws: ``FileError`` when the file system fails as a whole, and the store's errors.
    func install(_ contents: [StagedContent], _ report: inout SyncReport) async throws {
        let isMuch = contents.reduce(0) { $0 + $1.size } >= Self.manyBytes
        guard contents.count >= Self.manyFiles || isMuch else {
            try installer.install(contents, as: .download, &report)
            return
        }
        let staging = control.staging
        let writing = Task(executorPreference: context.environment.workers) {
            var written = Written()
            for var one in contents {
                do throws(FileError) {
                    try one.write(to: staging, durably: false)
                    written.contents.append(one)
                } catch {
                    written.failures.append((one.item, error))
                }
            }
            return written
        }
        do {
            try await nameGroup(&report)
        } catch {
            _ = await writing.value
            throw error
        }
        let written = await writing.value
        underWay = Group(items: Set(contents.map(\.item)), written: written, syncing: syncing())
    }

    /// Completes the installs that are in progress.
    ///
    /// - Throws: As ``install(_:_:)``.
    func settle(_ report: inout SyncReport) async throws {
        try await nameGroup(&report)
        if placed.isEmpty { return }
        try await syncing().value
        try rememberPlaced(&report)
    }

    /// Renames the files of the current group into place, and records the previous group, whose names are durable now.
    private func nameGroup(_ report: inout SyncReport) async throws {
        guard let group = underWay else { return }
        underWay = nil
        try await group.syncing.value
        try rememberPlaced(&report)
        for failure in group.written.failures { report.refuse(failure.item, in: nil, failure.error) }
        placed += try installer.moveIntoPlace(group.written.contents, &report)
    }

    private func rememberPlaced(_ report: inout SyncReport) throws {
        let installed = placed
        placed = []
        if installed.isEmpty { return }
        try installer.remember(installed, of: installed.map(\.content.item), as: .download, &report)
    }

    private func syncing() -> Task<Void, any Error> {
        let root = context.root
        return Task(executorPreference: context.environment.workers) { try root.syncFileSystem() }
    }
}

/// The folders in which names were changed that are not durable yet.
///
/// A few stay open and are synced one by one; of more, none is kept, and their whole file system is synced.
struct UnsyncedFolders {
    private var open: [ItemID: any DiskFolder] = [:]
    private var areMany = false

    /// Notes that names were changed in the folder of an item.
    mutating func insert(_ folder: any DiskFolder, _ item: ItemID) {
        if areMany { return }
        open[item] = folder
        if open.count > SyncContext.fewFiles { (open, areMany) = ([:], true) }
    }

    /// Drops the folder of an item that was removed itself.
    mutating func remove(_ item: ItemID) { open[item] = nil }

    /// Makes the names durable; `root` is on the same file system.
    func sync(in root: any DiskFolder) throws(FileError) {
        if areMany { return try root.syncFileSystem() }
        for (_, folder) in open.sorted(by: { $0.key < $1.key }) { try folder.sync() }
    }
}
