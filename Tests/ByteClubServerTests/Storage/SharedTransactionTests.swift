import ByteClubCore
import GRDB
import Glibc
import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Changes that share a transaction")
struct SharedTransactionTests {
    private struct Refusal: Error, Equatable {}

    /// Some operations of a member or a batch, after which the change may still be refused.
    private struct Change: Sendable {
        enum Made: Equatable {
            case entries([FolderEntry])
            case outcome(SyncOutcome)
        }

        let author: Int64
        let operations: [RandomOperation]
        let batch: SyncBatch?
        let isRefused: Bool

        func run(in transaction: WriteTransaction, at now: APIDate) -> Result<Made, APIError> {
            do {
                return try transaction.change {
                    var folder = SharedFolder(state: SQLiteFolderState(writing: transaction), now: now, author: author)
                    let made = try operations.map { try $0.run(on: &folder) }
                    let outcome = try batch.map { try folder.apply($0) }
                    if isRefused { throw Refusal() }
                    return .success(outcome.map(Made.outcome) ?? .entries(made))
                }
            } catch let error as APIError {
                return .failure(error)
            } catch let error as BatchRefused {
                return .failure(APIError(424, "\(error.outcome)"))
            } catch {
                return .failure(APIError(507, "\(error)"))
            }
        }
    }

    /// All that a store tells of its folder.
    private struct Contents: Equatable, Sendable {
        let live: [FolderEntry]
        let newest: [FolderEntry]
        let journal: [FolderEntry]
        let versions: [[FolderEntry]]
        let listings: [Int64]
        let usages: [StorageUsage]

        init(of store: any ClubStore) async throws {
            (live, newest, journal, versions, listings) = try await store.read { folder in
                let newest = try folder.state.changes(after: 0, prefix: .root, includeDeleted: true, limit: .max)
                return (
                    try folder.state.descendants(.root, limit: .max), newest,
                    try folder.state.journal(after: 0, changedAfter: 0, limit: .max),
                    try newest.map { try folder.state.versions($0.path.key, limit: .max) },
                    try newest.map { try folder.state.newestChild($0.path.key) }
                )
            }
            var usages: [StorageUsage] = []
            for member: Int64 in 1...2 {
                let usage = try await store.usage(of: member)
                // The disk is not the store's own.
                usages.append(StorageUsage(used: usage.used, quota: usage.quota, capacity: 0))
            }
            self.usages = usages
        }
    }

    /// `BYTECLUB_SEED` says from which seed on the changes are made.
    private static let seeds: ClosedRange<UInt64> = {
        let first = unsafe getenv("BYTECLUB_SEED").flatMap { unsafe UInt64(String(cString: $0)) } ?? 1
        return first...first + 7
    }()

    /// With and without limits that many of the changes meet.
    private static let limits = [
        HistorySettings(),
        HistorySettings(clubQuota: 24, memberQuota: 15, entries: 12, memberEntries: 9),
    ]

    @Test(
        "random changes, of which many fail, do in one transaction what they do in one each", arguments: seeds, limits)
    func oneForAll(seed: UInt64, limits: HistorySettings) async throws {
        print("shared transaction: BYTECLUB_SEED=\(seed)")
        var generator = SeededGenerator(seed: seed)
        var batches = RandomBatches()
        let (together, apart) = (try StoreFixture(limits), try StoreFixture(limits))
        let now = together.seconds.now
        var (done, refused) = (0, 0)
        for round in 0..<10 {
            var known = ModelFolderState()
            let all = try await together.store.read { try $0.state.journal(after: 0, changedAfter: 0, limit: .max) }
            for entry in all { try known.record(entry) }
            var changes: [Change] = []
            for _ in 0..<25 {
                let isBatch = Int.random(in: 0..<3, using: &generator) == 0
                let count = isBatch ? 0 : Int.random(in: 1...3, using: &generator)
                let last = try known.lastRevision()
                let nodes = [NodeID.root] + known.journal.map(\.node)
                changes.append(
                    Change(
                        author: Int64.random(in: 1...2, using: &generator),
                        operations: try (0..<count).map { _ in
                            try RandomOperation(last: last, names: ["a", "b"], using: &generator)
                        },
                        batch: isBatch ? try batches.next(on: known, nodes: nodes, using: &generator) : nil,
                        isRefused: Int.random(in: 0..<4, using: &generator) == 0))
            }
            // Some clients send a batch again, whose first answer may have been a refusal.
            changes += changes.filter { $0.batch != nil }.prefix(3)
            changes.shuffle(using: &generator)
            let planned = changes
            let found = try await together.inTransaction { transaction in
                planned.map { $0.run(in: transaction, at: now) }
            }
            var expected: [Result<Change.Made, APIError>] = []
            for change in changes {
                expected.append(try await apart.inTransaction { change.run(in: $0, at: now) })
            }
            #expect(found == expected, "round \(round)")
            #expect(try await Contents(of: together.store) == Contents(of: apart.store), "round \(round)")
            refused += found.filter { if case .failure(let error) = $0 { error.status == 507 } else { false } }.count
            done += found.filter { if case .success = $0 { true } else { false } }.count
        }
        #expect(done > 5 && refused > 5)
        try together.store.close()
        // The rules alone make no contents.
        let findings = try await Verifier(directory: together.directory.path).run().findings
        #expect(findings.filter { $0.kind != .reference } == [])
    }

    @Test("a note is stored where a change that failed before it had moved another one")
    func ghost() async throws {
        let fixture = try StoreFixture()
        try await fixture.put("/a/x", [1])
        let (old, new) = (try RemotePath("/a"), try RemotePath("/b"))
        let note = try new.appending("x")
        let now = fixture.seconds.now
        let content = try #require(StagedContent(inline: [2]))
        let made = try await fixture.inTransaction { transaction in
            var folder = SharedFolder(state: SQLiteFolderState(writing: transaction), now: now, author: 1)
            #expect(throws: Refusal.self) {
                try transaction.change {
                    _ = try folder.move(old, to: new)
                    #expect(try folder.latest(note)?.isDeleted == false)
                    throw Refusal()
                }
            }
            return try transaction.change {
                try transaction.store([content])
                return try folder.put(note, bytes: 1, hash: content.hash, condition: .overwrite, policy: .fail)
            }
        }
        #expect(try await fixture.store.read { try $0.latest(note) } == made)
        let live = try await fixture.store.read { try $0.state.descendants(.root, limit: .max).map(\.path.string) }
        #expect(live == ["/a", "/a/x", "/b", "/b/x"])
        #expect(try await fixture.bytes(made) == [2])
        try fixture.store.close()
        #expect(try await Verifier(directory: fixture.directory.path).run().isClean)
    }

    @Test("a version that comes to no place in the tree loses the whole transaction, and is acknowledged to nobody")
    func lostRow() async throws {
        let fixture = try StoreFixture()
        let first = try await fixture.put("/n", [1])
        let (path, now) = (first.path, fixture.seconds.now)
        await #expect {
            try await fixture.store.writer.perform { transaction in
                var folder = SharedFolder(state: SQLiteFolderState(writing: transaction), now: now, author: 1)
                #expect(try folder.latest(path) == first)
                try transaction.database.execute(sql: "DELETE FROM latest WHERE key LIKE '%n'")
                // A change that goes on all the same stores nothing either.
                _ = try? folder.put(
                    path, bytes: 1, hash: ContentHasher.hash([2]), condition: .overwrite, policy: .fail)
            }
        } throws: {
            ($0 as? StorageError)?.code == .damaged
        }
        #expect(try await fixture.store.read { try $0.latest(path) } == first)
        #expect(try await fixture.put("/n", [3]).revision == first.revision + 1)
    }
}

extension StoreFixture {
    /// Runs changes in one transaction of the database, as writes that come at the same time do.
    fileprivate func inTransaction<T: Sendable>(
        _ body: @escaping @Sendable (WriteTransaction) throws -> T
    ) async throws -> T {
        let store = store
        return try await store.pool.writeWithoutTransaction { database in
            try database.beginTransaction(.immediate)
            do {
                let transaction = try WriteTransaction(
                    database: database, files: store.files, settings: store.settings)
                let result = try body(transaction)
                try transaction.prepareCommit()
                try database.commit()
                return result
            } catch {
                try database.rollback()
                throw error
            }
        }
    }
}
