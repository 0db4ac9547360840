import ByteClubCore
import Synchronization
import TestSupport
import Testing

extension EndToEnd {
    @Suite("kill -9 of the server") struct ServerKillTests {
        @Test("at random points of a load of writes keeps every acknowledged write with its bytes, and nothing torn")
        func kills() async throws {
            let seed = Sample.seed("server kills")
            var generator = SeededGenerator(seed: seed)
            let club = try await Club.start()
            let ledger = WriteLedger()
            for round in 0..<Settings.kills {
                let api = try ClubAPI(server: club.server, token: club.api.token)
                let delay = Duration.seconds(Double.random(in: 0..<0.08, using: &generator))
                let seeds = (0..<Self.writers).map { _ in generator.next() }
                await withTaskGroup(of: Void.self) { group in
                    for (writer, seed) in seeds.enumerated() {
                        group.addTask { await Self.write(writer, round, seed, api, ledger) }
                    }
                    try? await eventually("a write is acknowledged") { ledger.hasBegunRound }
                    try? await ContinuousClock().sleep(for: delay)
                    await club.server.kill9()
                }
                await api.close()
                try await club.server.start()
                try await Self.check(ledger.takeRound(), club, ledger)
            }
            let all = ledger.all
            #expect(all.count >= Settings.kills, "too little was acknowledged to tell anything")
            try await Self.checkRevisions(all, try ClubAPI(server: club.server, token: club.api.token))
            print("server kills: \(Settings.kills), \(all.count) acknowledged writes, \(ledger.attempts) attempted")
        }

        private static let writers = 6

        /// Writes until the server is gone.
        private static func write(
            _ writer: Int, _ round: Int, _ seed: UInt64, _ api: ClubAPI, _ ledger: WriteLedger
        ) async {
            var generator = SeededGenerator(seed: seed)
            while true {
                let isShared = Int.random(in: 0..<8, using: &generator) == 0
                let own = "/byteclub/w\(writer)/\(Int.random(in: 0..<4, using: &generator)).md"
                let path = isShared ? "/byteclub/shared/\(round).md" : own
                let length =
                    switch Int.random(in: 0..<10, using: &generator) {
                    case 0: Int.random(in: 200_000..<400_000, using: &generator)
                    case 1, 2: Int.random(in: 60_000..<72_000, using: &generator)
                    default: Int.random(in: 100..<3000, using: &generator)
                    }
                let bytes = Sample.note(path, length: length, using: &generator)
                let hash = ContentHasher.hash(bytes)
                ledger.attempt(hash)
                guard let answer = try? await api.put(bytes, path) else { return }
                guard answer.status == 200, let stored = try? answer.decode(Metadata.self), let rev = stored.rev else {
                    Issue.record("a write was answered with \(answer)")
                    return
                }
                ledger.acknowledge(Write(path: path, rev: rev, hash: hash))
            }
        }

        /// What this round acknowledged can be read, and what can be read was written by somebody.
        private static func check(_ writes: [Write], _ club: Club, _ ledger: WriteLedger) async throws {
            let api = try ClubAPI(server: club.server, token: club.api.token)
            try await checkRevisions(writes, api)
            for write in writes {
                let answer = try await api.get(write.path, rev: write.rev)
                #expect(answer.status == 200 && ContentHasher.hash(answer.bytes) == write.hash, "\(write) is not there")
            }
            for (key, metadata) in try await api.tree("/byteclub") where !metadata.isFolder {
                let known = metadata.contentHash.map { ledger.wasAttempted($0) } ?? false
                #expect(known, "\(key) has content that nobody wrote")
            }
            for path in Set(writes.map(\.path)) {
                let answer = try await api.get(path)
                let isWhole = answer.status == 200 && ledger.wasAttempted(ContentHasher.hash(answer.bytes))
                #expect(isWhole, "\(path) is torn")
            }
            await api.close()
        }

        private static func checkRevisions(_ writes: [Write], _ api: ClubAPI) async throws {
            for (path, writes) in Dictionary(grouping: writes, by: \.path) {
                let revisions = try await api.revisions(path)
                let hashes = Dictionary(
                    revisions.map { ($0.rev, $0.contentHash) }, uniquingKeysWith: { first, _ in first })
                for write in writes { #expect(hashes[write.rev] == write.hash, "\(write) is not among the revisions") }
            }
        }
    }
}

/// A write that the server said it has.
struct Write: Sendable {
    let path: String
    let rev: Revision
    let hash: ContentHash
}

/// What the writers sent and what the server said it has.
final class WriteLedger: Sendable {
    private struct State {
        var attempted: Set<ContentHash> = []
        var round: [Write] = []
        var all: [Write] = []
    }

    private let state = Mutex(State())

    var all: [Write] { state.withLock { $0.all } }
    var attempts: Int { state.withLock { $0.attempted.count } }

    /// Whether anything was acknowledged in this round.
    var hasBegunRound: Bool { state.withLock { !$0.round.isEmpty } }

    func attempt(_ hash: ContentHash) { state.withLock { _ = $0.attempted.insert(hash) } }

    func wasAttempted(_ hash: ContentHash) -> Bool { state.withLock { $0.attempted.contains(hash) } }

    func acknowledge(_ write: Write) { state.withLock { $0.round.append(write) } }

    /// Ends a round and returns its writes.
    func takeRound() -> [Write] {
        state.withLock { state in
            defer { state.round = [] }
            state.all += state.round
            return state.round
        }
    }
}
