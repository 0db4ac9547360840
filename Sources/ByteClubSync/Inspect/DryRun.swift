public import ByteClubCore
import Glibc

/// Both sides as they are now, in a copy of the mirror's state.
final class ObservedCopy {
    let local: LocalCopy
    private let connector: RemoteConnector
    var context: SyncContext { local.context }

    init(_ configuration: SyncConfiguration, _ remote: any Remote, _ environment: SyncEnvironment) throws {
        local = try LocalCopy(configuration, environment, environment.openStore())
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
        while try await replica.pull(&report) != .end { replica.inlineContents.clear() }
        replica.inlineContents.clear()
    }
}

/// Plans what a sync would do first.
actor DryRun {
    private let executor: any SerialExecutor
    private let copy: ObservedCopy

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(_ configuration: SyncConfiguration, _ remote: any Remote, _ environment: SyncEnvironment) throws {
        executor = environment.executor
        copy = try ObservedCopy(configuration, remote, environment)
    }

    func close() throws { try copy.context.store.close() }

    /// The events that a sync would emit first.
    func events() async throws -> [SyncEvent] {
        try await copy.observe()
        var events: [SyncEvent] = []
        var deletions: [PlannedOperation] = []
        try copy.local.plan { plan, _ in
            events += try plan.operations.filter { !$0.isDeletion }.compactMap(event)
            deletions += plan.operations.filter(\.isDeletion)
        }
        let verdict = try copy.local.judge(deletions)
        events += try verdict.allowed.compactMap(event)
        return try events
            + verdict.held.map { operation in
                .held(
                    try copy.context.store.shownPath(of: operation.item),
                    on: operation.side == .local ? .local : .remote)
            }
    }

    /// The event of an operation; nil for bookkeeping.
    private func event(_ operation: PlannedOperation) throws -> SyncEvent? {
        guard let kind = operation.event else { return nil }
        let store = copy.context.store
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
            let database = configuration.databasePath
            environment.openStore = { try SQLiteTreeStore.scratchCopy(path: database) }
            let empty = isNew ? try Self.emptyDirectory() : nil
            defer { if let empty { unsafe rmdir(empty) } }
            if let empty { environment.disk = LinuxDisk(empty) }
            let dryRun = try DryRun(configuration, remote, environment)
            let events = try await dryRun.events()
            try await dryRun.close()
            return events
        } catch {
            throw SyncError.wrapping(error)
        }
    }

    /// Whether there is neither a mirror nor a database yet.
    var isNew: Bool {
        unsafe access(configuration.directory, F_OK) != 0 && access(configuration.databasePath, F_OK) != 0
    }

    /// Makes a directory in which nothing is, and into which nobody else can put anything: the mirror as it would begin.
    private static func emptyDirectory() throws(FileError) -> String {
        var path = Array("/tmp/byteclub-nothing-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&path) != nil else { throw FileError(operation: "write in", path: "/tmp", code: errno) }
        return String(decoding: path.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
