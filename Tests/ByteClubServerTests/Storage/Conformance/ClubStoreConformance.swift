import ByteClubCore
import Logging
import TestSupport
import Testing

@testable import ByteClubServer

/// One claim about what every store of a club does, as a test that any store can run.
struct ClubStoreConformance: Sendable, CustomStringConvertible {
    /// The claim, a sentence.
    let description: String
    /// With what the store is opened.
    let settings: HistorySettings
    /// Puts an empty club to the test.
    let check: @Sendable (ClubStoreRun) async throws -> Void

    init(
        _ claim: String, _ settings: HistorySettings = HistorySettings(),
        _ check: @escaping @Sendable (ClubStoreRun) async throws -> Void
    ) {
        description = claim
        self.settings = settings
        self.check = check
    }

    /// What every store must do.
    static let all =
        folder + search + journal + waiting + contents + uploads + chunks + room + gallery + photos + links + members
        + signIn
        + history
}

/// A store under test, the clock that it is told, and what claims do again and again.
struct ClubStoreRun: Sendable {
    let store: any ClubStore
    let clock: Clock

    /// Stores bytes as the server does: in memory when small, else as a blob.
    @discardableResult
    func put(
        _ path: String, _ bytes: [UInt8], by member: Int64 = 1, _ condition: WriteCondition = .overwrite
    ) async throws -> FolderEntry {
        try await StoreFixture.put(store, path, bytes, by: member, condition)
    }

    @discardableResult
    func delete(_ path: String) async throws -> FolderEntry {
        let path = try RemotePath(path)
        return try await store.write(by: 1, storing: nil) { try $0.delete(path, seen: nil) }
    }

    @discardableResult
    func move(_ path: String, to target: String) async throws -> FolderEntry {
        let (path, target) = (try RemotePath(path), try RemotePath(target))
        return try await store.write(by: 1, storing: nil) { try $0.move(path, to: target) }
    }

    func bytes(_ entry: FolderEntry) async throws -> [UInt8] { try await store.content(of: entry).bytes() }

    /// The paths that are live, in order.
    func live() async throws -> [String] {
        try await store.read { try $0.state.descendants(.root, limit: .max).map(\.path.string) }
    }

    /// The numbers of a path's versions, the newest first.
    func revisions(_ path: String) async throws -> [Int64] {
        let key = try RemotePath(path).key
        return try await store.read { try $0.state.versions(key, limit: 100).map(\.revision) }
    }

    func lastRevision() async throws -> Int64 { try await store.read { try $0.state.lastRevision() } }

    func refused(
        _ code: StorageError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ work: () async throws -> Void
    ) async {
        await #expect(sourceLocation: sourceLocation) {
            try await work()
        } throws: { ($0 as? StorageError)?.code == code }
    }

    func refused(
        _ status: Int, sourceLocation: SourceLocation = #_sourceLocation, _ work: () async throws -> Void
    ) async {
        await #expect(sourceLocation: sourceLocation) {
            try await work()
        } throws: { ($0 as? APIError)?.status == status }
    }

    /// Lets days pass, with a look round every day.
    func days(_ count: Int) async {
        for _ in 0..<count {
            await keepHouse()
            clock.advance(86_400)
        }
        await keepHouse()
    }

    func keepHouse() async {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        await Housekeeping(store: store, logger: logger).keepHouse(collecting: true)
    }
}

/// The stores that there are.
enum TestedStore: CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite, memory

    var testDescription: String { "\(self)" }

    /// Opens an empty club, lets a test use it, and closes it.
    func run(
        _ settings: HistorySettings = HistorySettings(), _ body: (ClubStoreRun) async throws -> Void
    ) async throws {
        let clock = Clock()
        let directory = try TemporaryDirectory()
        let store: any ClubStore =
            switch self {
            case .sqlite: try StoreFixture.open(directory.path, settings, clock: clock)
            case .memory: MemoryStore(settings: settings, now: { clock.now }, uptime: { clock.uptime })
            }
        try await body(ClubStoreRun(store: store, clock: clock))
        try store.close()
        withExtendedLifetime(directory) {}
    }
}

@Suite("Every store keeps to the same rules")
struct ClubStoreConformanceTests {
    @Test("each claim about stores holds", arguments: TestedStore.allCases, ClubStoreConformance.all)
    func conforms(_ store: TestedStore, _ claim: ClubStoreConformance) async throws {
        try await store.run(claim.settings, claim.check)
    }

    @Test("a store that is closed changes nothing any more", arguments: TestedStore.allCases)
    func closed(_ tested: TestedStore) async throws {
        try await tested.run { run in
            try run.store.close()
            await run.refused(.closed) { try await run.put("/a", [1]) }
            await run.refused(.closed) { _ = try await run.store.addMember(name: "Ann", role: nil, oauth1: false) }
            await #expect(throws: StorageError.self) { try await run.store.members() }
        }
    }
}
