public import ByteClubCore

extension SyncEngine {
    /// What a sync would do by what the mirror's database knows and the disk shows now; the server is not asked, and
    /// nothing is changed.
    ///
    /// All folders are looked through, and files are read only where one may have been moved.
    ///
    /// - Throws: ``SyncError`` when the mirror or its database cannot be read.
    public static func waiting(of configuration: SyncConfiguration) throws(SyncError) -> SyncWaiting {
        do {
            let database = configuration.databasePath
            let environment = SyncEnvironment(
                disk: LinuxDisk(configuration.directory),
                openStore: { try SQLiteTreeStore.scratchCopy(path: database) }, bases: NoBases(),
                executor: try ThreadExecutor(), clock: MonotonicClock())
            let store = try environment.openStore()
            defer { try? store.close() }
            let root = try MirrorRoot(configuration, environment, store, isDryRun: true)
            _ = try root.identify(nil, store)
            let context = SyncContext(configuration, environment, store: store, root: root.folder, isWatching: false)
            let scanner = Scanner(root: root.folder, store: store)
            var deletions = DeletionGuard(configuration.deleteGuard, approvesAll: false)
            var report = SyncReport()
            _ = try SyncScope(context, scanner).reload(&deletions, &report)
            _ = try scanner.scan(.everything, confirmsDeletions: true)
            return try SyncWaiting(unsettledIn: store, naming: context.naming)
        } catch {
            throw SyncError.wrapping(error)
        }
    }
}

extension SyncWaiting {
    /// Counts what is planned for unsettled items; one whose content was not read counts as changed.
    init(unsettledIn store: any TreeStore, naming: ConflictNaming) throws {
        self.init()
        var chunks = UnsettledChunks(store, of: 4_096)
        while let chunk = try chunks.next() {
            let ids = chunk.filter { $0.remote?.isUnverified != true }.map(\.id)
            let plan = try Planner.plan(ids, in: store, naming: naming)
            let items = Dictionary(chunk.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
            for id in plan.unread { send(items[id]) }
            for operation in plan.operations where !plan.unread.contains(operation.item) {
                switch operation {
                case .note: break
                case .server(let id, .upload): send(items[id])
                case .disk(let id, .download):
                    downloads += 1
                    downloadBytes = downloadBytes.adding(items[id]?.remote?.size ?? 0)
                case .server, .disk: others += 1
                }
            }
        }
    }

    private mutating func send(_ item: Item?) {
        uploads += 1
        uploadBytes = uploadBytes.adding(item?.local?.size ?? 0)
    }
}
