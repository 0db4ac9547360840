import ByteClubCore

/// The resources that an endpoint's request may need before it is served.
struct RequestCost: Hashable, Sendable {
    /// How the database is read.
    enum Reading: Hashable, Sendable {
        /// A few rows.
        case brief
        /// Many rows, which the answer holds.
        case listing
        /// Every name in a folder.
        case search
    }

    /// How much of the body is held in memory.
    enum Body: Hashable, Sendable {
        /// Nothing but the piece that is on its way to the disk.
        case streamed
        /// The same, of a form with a file in it; a signature of OAuth 1 covers the file's name as well.
        case multipart
        /// A form of at most ``formLimit`` bytes.
        case form
        /// All of it, up to so many bytes.
        case whole(Int)
    }

    /// The longest form in bytes: three times the longest path, and some.
    static let formLimit = 64 << 10

    /// The refusal of a body that is longer than the limit.
    static func tooLong(_ limit: Int) -> APIError { APIError(413, "the body is longer than \(limit) bytes") }

    /// How much of the body is held in memory.
    var body = Body.form
    /// How the database is read.
    var reading = Reading.brief
}

/// A request's body in memory, with the lease of that memory.
struct HeldBody: Sendable {
    /// The bytes.
    let bytes: [UInt8]
    /// Their memory, given back with the last copy of this.
    let lease: FairSemaphore.Lease
}

/// Reads the folder for requests, for each when it is its turn.
struct FolderReader: Sendable {
    let store: any FolderStore
    let shares: SharedLimits

    /// Reads the folder when it is the request's turn, and only while the client waits.
    ///
    /// - Throws: ``APIError`` 429 or 503 when too many requests wait for a turn; `CancellationError` when the client
    ///   hangs up; errors of `body`.
    func read<T: Sendable>(
        for request: some RequestContext, _ body: @escaping @Sendable (SharedFolder) throws -> T
    ) async throws -> T {
        try await inTurn(for: request) { [store] in try await store.read(body) }
    }

    /// Does work that occupies a database reader for long, when it is the request's turn, and only while the client
    /// waits.
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
