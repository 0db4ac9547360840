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
                openStore: { try SQLiteTreeStore.scratchCopy(path: database) },
                executor: try ThreadExecutor(), clock: MonotonicClock())
            let store = try environment.openStore()
            defer { try? store.close() }
            let copy = try LocalCopy(configuration, environment, store)
            try copy.scan()
            var waiting = SyncWaiting()
            try copy.plan(isReading: false) { waiting.count($0, of: $1) }
            return waiting
        } catch {
            throw SyncError.wrapping(error)
        }
    }
}

extension SyncWaiting {
    /// Counts what is planned for items; one whose content was not read counts as changed.
    fileprivate mutating func count(_ plan: Plan, of items: [Item]) {
        let items = Dictionary(items.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
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

    private mutating func send(_ item: Item?) {
        uploads += 1
        uploadBytes = uploadBytes.adding(item?.local?.size ?? 0)
    }
}
