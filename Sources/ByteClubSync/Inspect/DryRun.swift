public import ByteClubCore
import Glibc

/// Both sides as they are now, in a copy of the mirror's state: what a dry run and a verification look at.
actor ObservedCopy {
    let local: LocalCopy
    private let executor: any SerialExecutor
    private let connector: RemoteConnector
    var store: any TreeStore { local.context.store }
    var configuration: SyncConfiguration { local.context.configuration }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Copies the mirror's database; the copy is closed with the actor.
    init(_ configuration: SyncConfiguration, _ remote: any Remote, _ environment: SyncEnvironment) throws {
        let database = configuration.databasePath
        executor = environment.executor
        local = try LocalCopy(configuration, environment, SQLiteTreeStore.scratchCopy(path: database))
        let ids = OperationIDs(mirror: local.id, at: environment.disk.now())
        connector = RemoteConnector(local.context, remote, local.scanner, ids)
    }

    /// The server's side of the trees.
    var tree: RemoteTree { get async throws { try await connector.connect().tree } }

    /// Scans everything, and reads the server's feed to its end.
    func observe() async throws {
        try local.scan()
        try await pull()
    }

    /// Reads the server's feed to its end.
    func pull() async throws {
        var report = SyncReport()
        let replica = try await connector.connect()
        while try await replica.pull(&report) != .current { replica.inlineContents.clear() }
        replica.inlineContents.clear()
    }
}

extension ObservedCopy {
    /// The events that a sync would emit first.
    func events() async throws -> [SyncEvent] {
        try await observe()
        var events: [SyncEvent] = []
        var deletions: [PlannedOperation] = []
        try local.plan { plan, _ in
            events += try plan.operations.filter { !$0.isDeletion }.compactMap(event)
            deletions += plan.operations.filter(\.isDeletion)
        }
        let verdict = try local.desk.judge(deletions, isSettling: false)
        events += try verdict.allowed.compactMap(event)
        return try events
            + verdict.held.map { operation in
                .held(try store.shownPath(of: operation.item), on: operation.side == .local ? .local : .remote)
            }
    }

    /// The event of an operation; nil for bookkeeping.
    private func event(_ operation: PlannedOperation) throws -> SyncEvent? {
        guard let kind = operation.event else { return nil }
        let path = try store.shownPath(of: operation.item)
        switch operation {
        case .disk(let id, .move(let target)), .server(let id, .move(let target)):
            let new = LocalPath.join(try store.shownPath(of: target.parent), target.name.text)
            return SyncEvent(kind, path: new, from: try operation.side.map { try store.path(of: id, on: $0) })
        case .disk(_, .resolveContent(let name)):
            return SyncEvent(kind, path: path, copy: LocalPath.join(LocalPath.split(path).parent, name.text))
        case .note, .disk, .server: return SyncEvent(kind, path: path)
        }
    }
}

extension SyncEngine {
    /// The events that ``runOnce(_:)`` would emit first (a dry run); changes neither side nor the state.
    ///
    /// - Throws: ``SyncError``.
    public func plan() async throws(SyncError) -> [SyncEvent] {
        do {
            var environment = try SyncEnvironment(configuration)
            let empty = isNew ? try Self.emptyDirectory() : nil
            defer { if let empty { unsafe rmdir(empty) } }
            if let empty { environment.disk = LinuxDisk(empty) }
            return try await ObservedCopy(configuration, remote, environment).events()
        } catch {
            throw SyncError.wrapping(error)
        }
    }

    /// Whether there is neither a mirror nor a database yet.
    var isNew: Bool {
        unsafe access(configuration.directory, F_OK) != 0 && access(configuration.databasePath, F_OK) != 0
    }

    /// Makes an empty directory into which no other user can put anything: the mirror before its first sync.
    private static func emptyDirectory() throws(FileError) -> String {
        var path = Array("/tmp/byteclub-nothing-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&path) != nil else { throw FileError(operation: "write in", path: "/tmp", code: errno) }
        return String(decoding: path.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// The mirror as its disk is now, in a copy of its state: it has no control directory, so it can write nothing.
final class LocalCopy {
    let context: SyncContext
    let scanner: Scanner
    /// What names the mirror.
    let id: String
    private let reader: FileReader
    private let scope: SyncScope
    /// What decides which planned deletions would be held.
    var desk: DeletionDesk

    /// Creates a copy of the mirror's state; the caller closes `store`.
    init(_ configuration: SyncConfiguration, _ environment: SyncEnvironment, _ store: any TreeStore) throws {
        let root = try MirrorRoot(configuration, environment, store, isDryRun: true)
        id = try root.identify(nil, store)
        context = SyncContext(configuration, environment, store: store, root: root.folder, isWatching: false)
        scanner = Scanner(root: root.folder, store: store)
        scanner.approvesDeletions = configuration.approvesDeletions
        reader = FileReader(context, scanner)
        scope = SyncScope(context, scanner)
        desk = try DeletionDesk(context)
    }

    /// Scans everything.
    func scan() throws {
        var report = SyncReport()
        _ = try scope.reload(&desk.deletions, &report)
        _ = try scanner.scan(.everything, confirmsDeletions: true)
    }

    /// Plans all unsettled items; `take` gets the plan of each slice, with the items.
    ///
    /// Unless `isReading`, files that the planner needs to know are left unread.
    func plan(isReading: Bool = true, _ take: (Plan, [Item]) throws -> Void) throws {
        var report = SyncReport()
        var chunks = UnsettledChunks(context.store, of: 4_096)
        while let chunk = try chunks.next() {
            let ids = chunk.filter { $0.remote?.isUnverified != true }.map(\.id)
            var plan = try Planner.plan(ids, in: context.store, naming: context.naming)
            for _ in 0..<4 where isReading && !plan.unread.isEmpty {
                var count = 0
                for id in plan.unread where try reader.hash(id, &report) { count += 1 }
                if count == 0 { break }
                plan = try Planner.plan(ids, in: context.store, naming: context.naming)
            }
            try take(plan, chunk)
        }
    }
}

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
    /// Counts the planned operations of items; an item whose content was not read counts as changed.
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
