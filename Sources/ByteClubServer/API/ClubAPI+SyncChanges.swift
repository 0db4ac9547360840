import ByteClubCore
import HTTPTypes
import NIOCore
import ServiceLifecycle

extension ClubAPI {
    /// The most entries of one page of the journal.
    static let journalPageSize: Int64 = 10_000
    /// What an entry of a page takes in bytes, but for a very long name.
    private static let largestJournalEntry = 512
    /// The longest wait for a change in seconds.
    static let journalWait: Int64 = 480

    /// Answers `GET /sync/changes`.
    func syncChanges(_ request: MemberRequest) async throws -> Response {
        let parameters = request.parameters
        let cursor = try parameters["cursor"].map { text throws(APIError) in
            guard let cursor = JournalCursor(text) else { throw APIError(400, "not a cursor", parameter: "cursor") }
            return cursor
        }
        let entries = try parameters.integer("limit", in: 1...Self.journalPageSize) ?? 2000
        let seconds = try parameters.integer("wait", in: 0...Self.journalWait) ?? 0
        let inlines = try parameters.bool("bodies", default: true)
        let limits = JournalLimits(
            entries: Int(entries), inlineContent: inlines ? SyncBatch.maximumInlineBytes : nil)
        if let cursor, cursor.end == nil, cursor.epoch == store.epoch, seconds > 0 {
            try await wait(request, after: cursor.position, seconds: seconds)
        }
        let (pool, party) = (shares.answers, request.party)
        let most = (inlines ? Int(limits.inlineBytes) : 0) + limits.entries * Self.largestJournalEntry
        let lease = try await request.whileClientWaits { try await pool.wait(most, for: party) }
        let (page, bodies) = try await inTurn(request) { [store] in
            try await store.journal(after: cursor, limits: limits)
        }
        var json = JSONText()
        page.write(to: &json)
        let length = json.bytes.count + 1 + bodies.reduce(0) { $0 + $1.count }
        var buffer = ByteBuffer()
        buffer.reserveCapacity(length)
        buffer.writeBytes(json.bytes)
        buffer.writeInteger(UInt8(ascii: "\n"))
        for body in bodies { buffer.writeBytes(body) }
        return Response(.ok, headers: [.contentType: SyncFrame.mime], body: .bytes(buffer)).holding(lease)
    }

    /// Waits for a change, for the time to pass, or for the server to stop.
    private func wait(_ request: MemberRequest, after position: Int64, seconds: Int64) async throws {
        let store = store
        do {
            _ = try await request.whileClientWaits {
                try await cancelWhenGracefulShutdown {
                    try await store.waitForChange(after: position, prefix: .root, timeout: .seconds(seconds))
                }
            }
        } catch is CancellationError {
            if Task.isCancelled { throw CancellationError() }
        }
    }

    /// Answers `GET /sync/digest`.
    func syncDigest(_ request: MemberRequest) async throws -> Response {
        let path = try request.parameters.path("path") ?? .root
        return .json(try await read(request) { try $0.digest(path) })
    }
}

extension SyncDigest: JSONWritable {}
