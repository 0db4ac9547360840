import ByteClubCore
import Synchronization

/// Rounds of look, plan and act, until mirror and server agree or only what must wait is left.
final class Cycle: Sendable {
    /// How a cycle ended.
    struct Outcome: Sendable {
        /// Whether deletions were put off until the disk is quiet.
        var hasDeferred = false
        /// When a file that is being written is to be looked at again.
        var nextLook: ContinuousClock.Instant?
        /// How many entries' deletions the guard holds.
        var held = 0
    }

    let mirror: Mirror
    let remote: any Remote
    let configuration: SyncConfiguration
    let probe: SyncProbe
    let tally: Tally
    private let refusals = Mutex<[PathKey: Int]>([:])
    private let recent = Mutex<[(at: ContinuousClock.Instant, nodes: Int)]>([])

    init(_ mirror: Mirror, _ remote: any Remote, _ configuration: SyncConfiguration, _ probe: SyncProbe, _ tally: Tally)
    {
        self.mirror = mirror
        self.remote = remote
        self.configuration = configuration
        self.probe = probe
        self.tally = tally
    }

    /// Syncs until there is nothing left to do, within a bound of rounds.
    ///
    /// `isUnquiet` tells whether the disk is changing right now; then nothing is deleted on the server yet.
    func run(_ scope: ScanScope, isUnquiet: @Sendable () -> Bool = { false }) async throws -> Outcome {
        var scope = scope
        var outcome = Outcome()
        var failures = 0
        for _ in 0..<60 {
            try await observe(scope)
            scope = .folders([])
            var work = try await makeWork()
            outcome.held = work.heldNodes
            outcome.nextLook = work.nextLook
            outcome.hasDeferred = false
            if isUnquiet() {
                let all = work.plan.deletions
                work.plan.deletions.removeAll { if case .deleteRemote = $0 { true } else { false } }
                outcome.hasDeferred = work.plan.deletions.count < all.count
            }
            if work.plan.isEmpty {
                if await mirror.suspects.isEmpty { break }
                failures += 1
                if failures > 8 { break }
                continue
            }
            let progress = try await carryOut(work.plan)
            if progress.done > 0 {
                failures = 0
            } else {
                failures += 1
                if failures > 3 {
                    if let error = progress.failure { throw error }
                    break
                }
            }
            if let error = progress.failure {
                let pause = error.retryAfter.map { Duration.seconds(min($0, 30)) } ?? .milliseconds(50 << failures)
                try await Task.sleep(for: pause)
            }
        }
        let problems = await mirror.allProblems
        for problem in problems {
            tally.noteOnce(SyncEvent(.problem, path: problem.path, message: problem.message))
        }
        if outcome.held == 0, problems.isEmpty { try await mirror.setLastSync() }
        return outcome
    }

    /// Looks at both sides at once.
    private func observe(_ scope: ScanScope) async throws {
        async let feed: Void = refresh()
        try await mirror.scan(scope)
        // What the scan missed counts only if it looked at the mirror.
        try await mirror.checkRoot()
        try await feed
        try await mirror.recognizeSent()
    }

    /// Brings the remote tree up to date.
    func refresh() async throws {
        var cursor = try await mirror.cursor()
        while true {
            let page = try await page(after: cursor)
            if page.reset || !page.entries.isEmpty || page.cursor != cursor { try await mirror.take(page) }
            cursor = page.cursor
            if !page.hasMore { return }
        }
    }

    /// The server's next changes; all of them from the start when it does not know the cursor any more.
    private func page(after cursor: String?) async throws(RemoteError) -> DeltaPage {
        do {
            return try await remote.delta(after: cursor, prefix: configuration.remoteRoot)
        } catch {
            guard error.code == .badCursor, cursor != nil else { throw error }
        }
        return try await remote.delta(after: nil, prefix: configuration.remoteRoot)
    }

    /// Plans, and asks the server about deletions that it never told.
    func makeWork() async throws -> Work {
        let before = ContinuousClock.now - .seconds(10)
        let recently = recent.withLock { recent in
            recent.removeAll { $0.at < before }
            return recent.reduce(0) { $0 + $1.nodes }
        }
        var work = try await mirror.makeWork(confirmed: [], recentDeletions: recently)
        if !work.unconfirmed.isEmpty {
            let confirmed = try await confirm(work.unconfirmed)
            if !confirmed.isEmpty {
                work = try await mirror.makeWork(confirmed: confirmed, recentDeletions: recently)
            }
        }
        for step in work.held {
            tally.noteOnce(
                SyncEvent(
                    .held, path: String(step.key.string.dropFirst()),
                    message:
                        "too many deletions at once to be believed; put the files back, or allow them with --force-deletes"
                ))
        }
        return work
    }

    /// The entries that the server says were deleted after they were synced.
    private func confirm(_ entries: [(path: RemotePath, synced: Revision?)]) async throws -> Set<PathKey> {
        if entries.count > 200 { return [] }
        var confirmed: Set<PathKey> = []
        for entry in entries {
            guard let metadata = try await metadata(at: onServer(entry.path)), metadata.isDeleted,
                let told = metadata.rev, let synced = entry.synced, told > synced
            else { continue }
            confirmed.insert(entry.path.key)
        }
        return confirmed
    }

    private func metadata(at path: RemotePath) async throws(RemoteError) -> Metadata? {
        do {
            return try await remote.metadata(at: path)
        } catch {
            if error.code == .notFound { return nil }
            throw error
        }
    }

    func countDeletions(_ nodes: Int) { recent.withLock { $0.append((.now, nodes)) } }

    /// The path on the server of a path below the mirror's root.
    func onServer(_ path: RemotePath) -> RemotePath {
        path.rebased(from: .root, to: configuration.remoteRoot) ?? path
    }

    /// How often the server has refused an entry, this time included.
    func countRefusal(_ key: PathKey) -> Int {
        refusals.withLock { refusals in
            refusals[key, default: 0] += 1
            return refusals[key] ?? 1
        }
    }

    func clearRefusals(_ key: PathKey) { refusals.withLock { $0[key] = nil } }
}
