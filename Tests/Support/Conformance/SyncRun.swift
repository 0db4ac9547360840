import ByteClubCore
import Synchronization
import Testing

/// What cases about ``SyncRemote`` do again and again.
struct SyncRun: Sendable {
    let remote: any SyncRemote
    let second: any SyncRemote
    private static let lastID = Atomic(0)
    private let run = UInt64.random(in: .min ... .max)
    /// What the names of its operations begin with.
    var writer: String { "\(run)" }

    init(remote: any SyncRemote, second: any SyncRemote) {
        (self.remote, self.second) = (remote, second)
    }

    func nextID() -> OperationID {
        let number = Self.lastID.wrappingAdd(1, ordering: .relaxed).newValue
        guard let id = OperationID("\(writer)-\(number)") else { preconditionFailure("an operation's name is one") }
        return id
    }

    func apply(
        _ actions: [(SyncOperation.Action, String?)], if condition: SyncOperation.Condition = .init(),
        isAllOrNothing: Bool = false
    ) async throws -> SyncOutcome {
        let batch = SyncBatch(
            actions.map { SyncOperation(nextID(), $0.0, if: condition) }, isAllOrNothing: isAllOrNothing)
        return try await remote.apply(batch, contents: actions.compactMap { $0.1.map { Array($0.utf8) } })
    }

    func send(
        _ action: SyncOperation.Action, _ text: String? = nil, if condition: SyncOperation.Condition = .init()
    ) async throws -> SyncResult {
        let outcome = try await apply([(action, text)], if: condition)
        return try #require(outcome.results.first)
    }

    func done(
        _ action: SyncOperation.Action, _ text: String? = nil, if condition: SyncOperation.Condition = .init(),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> SyncEntry {
        let result = try await send(action, text, if: condition)
        #expect(result.isDone, "\(result)", sourceLocation: sourceLocation)
        return try #require(result.entry, sourceLocation: sourceLocation)
    }

    func create(_ name: String, _ text: String, in folder: NodeID) async throws -> SyncEntry {
        let bytes = Array(text.utf8)
        let content = SyncOperation.Content(bytes: Int64(bytes.count), hash: ContentHasher.hash(bytes))
        return try await done(.create(.init(.node(folder), name), content), text)
    }

    /// The whole state, and the position up to which it is told.
    func drain() async throws -> (entries: [NodeID: SyncEntry], sequence: Int64) {
        var entries: [NodeID: SyncEntry] = [:]
        var cursor: String?
        while true {
            let page = try await remote.journal(after: cursor, limit: 1000, contents: .none, wait: .zero).page
            for entry in page.entries { entries[entry.node] = entry }
            if !page.hasMore { return (entries, try #require(page.sequence)) }
            cursor = page.cursor
        }
    }

    /// A cursor after all that is there.
    func end() async throws -> String {
        var cursor: String?
        while true {
            let page = try await remote.journal(after: cursor, limit: 1000, contents: .none, wait: .zero).page
            if !page.hasMore { return page.cursor }
            cursor = page.cursor
        }
    }
}

extension RemoteConformanceCase {
    /// A case about ``SyncRemote``, with its helper and the case's folder.
    init(
        sync name: String, _ body: @escaping @Sendable (RemoteConformanceRun, SyncRun, NodeID) async throws -> Void
    ) {
        self.init(name) { run in
            let (first, second) = (try await run.remote.powers(), try await run.second.powers())
            let sync = SyncRun(remote: try #require(first.sync), second: try #require(second.sync))
            let name = try run.path().name
            let folder = try await sync.done(.create(.init(.node(.root), name), nil))
            try await body(run, sync, folder.node)
        }
    }
}
