import ByteClubCore
import NIOPosix

/// Work on photos that is done once for each content, for all who wait for it, by a bounded number of threads and for
/// one party after the other.
struct PictureWork: Sendable {
    /// The longest photo in bytes that is worked on.
    static let sourceLimit: Int64 = 64 << 20

    /// Work for which a party waits.
    private struct Wish: Hashable {
        let hash: ContentHash
        let party: Party
    }

    /// What may block.
    let threads: NIOThreadPool
    /// Who may have a thread.
    let turns: SharedPool
    private let waiting = SingleFlight<Wish, Void>()
    private let working = SingleFlight<ContentHash, Void>()

    /// Works by some threads when it is a party's turn.
    init(threads: NIOThreadPool, turns: SharedPool) {
        self.threads = threads
        self.turns = turns
    }

    /// Works on a content unless that is done, whoever did it.
    ///
    /// What is under way is not stopped when nobody waits for it any more.
    ///
    /// - Parameters:
    ///   - hash: The content.
    ///   - party: Who waits.
    ///   - source: Where the content is.
    ///   - made: What was made; nil as long as there is something left to do; may block.
    ///   - work: What is done; may block.
    /// - Returns: What `made` says then; nil when nothing came of the work.
    /// - Throws: ``APIError`` 429 or 503 when too many wait already, what the closures throw.
    func ensure<Made: Sendable>(
        _ hash: ContentHash, for party: Party, source: @escaping @Sendable () async throws -> StoredContent,
        made: @escaping @Sendable () throws -> Made?, work: @escaping @Sendable (LocalContent) throws -> Void
    ) async throws -> Made? {
        if let made = try await NIOThreadPool.singleton.runIfActive(made) { return made }
        try await waiting.value(of: Wish(hash: hash, party: party)) {
            let turn = try await turns.wait(for: party)
            defer { withExtendedLifetime(turn) {} }
            try await working.value(of: hash) {
                if try await NIOThreadPool.singleton.runIfActive({ try made() != nil }) { return }
                let source = try await source().local(upTo: Self.sourceLimit)
                try await threads.runIfActive { try work(source) }
            }
        }
        return try await NIOThreadPool.singleton.runIfActive(made)
    }
}
