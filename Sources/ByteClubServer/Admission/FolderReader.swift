import ByteClubCore

/// Reads the folder for requests, for each when it is its turn.
struct FolderReader: Sendable {
    let store: any FolderStore
    let shares: SharedLimits

    /// Reads the folder when it is the request's turn, and only as long as the client waits for it.
    ///
    /// - Throws: ``APIError`` 429 or 503 when too many wait for a turn; `CancellationError` when the client is gone;
    ///   what `body` throws.
    func read<T: Sendable>(
        for request: some RequestContext, _ body: @escaping @Sendable (SharedFolder<AnyFolderState>) throws -> T
    ) async throws -> T {
        try await inTurn(for: request) { [store] in try await store.read(body) }
    }

    /// Does something that takes a database reader for long, when it is the request's turn, and only as long as the
    /// client waits for it.
    ///
    /// - Throws: As ``read(for:_:)``.
    func inTurn<T: Sendable>(
        for request: some RequestContext, _ work: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        let pool: FairSemaphore
        switch request.endpoint.cost.reading {
        case .brief: return try await work()
        case .listing: pool = shares.listings
        case .search: pool = shares.searches
        }
        let requester = request.requester
        return try await request.whileClientWaits {
            let turn = try await pool.wait(for: requester)
            defer { withExtendedLifetime(turn) {} }
            return try await work()
        }
    }
}
