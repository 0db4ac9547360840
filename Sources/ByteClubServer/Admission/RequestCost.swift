import ByteClubCore

/// What a request may cost before it is served, by what it asks for.
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

    /// What is held of the body.
    enum Body: Hashable, Sendable {
        /// Nothing but the piece that is on its way to the disk.
        case streamed
        /// The same, of a form with a file in it; a signature of OAuth 1 covers the file's name, too.
        case multipart
        /// A form of at most ``formLimit`` bytes.
        case form
        /// All of it, up to so many bytes.
        case whole(Int)
    }

    /// The longest form in bytes: three times the longest path, and some.
    static let formLimit = 64 << 10

    /// The refusal of a body that is longer than what is held of one.
    static func tooLong(_ limit: Int) -> APIError { APIError(413, "the body is longer than \(limit) bytes") }

    /// What is held of the body.
    var body = Body.form
    /// How the database is read.
    var reading = Reading.brief
}

/// A request's body that is held whole, with the memory that it takes.
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
