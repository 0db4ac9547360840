import ByteClubCore
import HTTPTypes
import NIOCore

/// The operations by which mirrors read the journal.
extension ClubAPI {
    /// The most entries of one page of the journal.
    private static let largestPage: Int64 = 10_000
    /// The bytes of an entry in a page, except for one with a very long name.
    private static let largestJournalEntry = 512
    /// The longest wait for a change in seconds.
    private static let longestWait: Int64 = 480

    /// Answers `GET /sync/changes`.
    func changes(_ request: MemberRequest) async throws -> Response {
        let parameters = request.parameters
        let cursor = try parameters.value("cursor", or: "not a cursor") { JournalCursor($0) }
        let entries = try parameters.integer("limit", in: 1...Self.largestPage) ?? 2000
        let seconds = try parameters.integer("wait", in: 0...Self.longestWait) ?? 0
        let inlines = try parameters.bool("bodies", default: true)
        let writer = try parameters.value("writer", or: "not the beginning of an operation's name") { name in
            OperationWriter(member: request.member.uid, name: name)
        }
        let limits = JournalLimits(
            entries: Int(entries), inlineContent: inlines ? SyncBatch.maximumInlineBytes : nil)
        if let cursor, cursor.end == nil, cursor.epoch == store.epoch, seconds > 0 {
            try await wait(request, after: cursor.position, seconds: seconds)
        }
        let (memory, requester) = (shares.answers, request.requester)
        let most = (inlines ? Int(limits.inlineBytes) : 0) + limits.entries * Self.largestJournalEntry
        let lease = try await request.whileClientWaits { try await memory.wait(most, for: requester) }
        let (page, bodies) = try await reader.inTurn(for: request) { [store] in
            try await store.journal(after: cursor, besides: writer, limits: limits)
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
        _ = try await request.waitForChange(in: store, after: position, atMost: .seconds(seconds))
        try Task.checkCancellation()
    }

    /// Answers `GET /sync/history`.
    func history(_ request: MemberRequest) async throws -> Response {
        let parameters = request.parameters
        let before = try parameters.integer("before", in: 1...Int64.max)
        let after = try parameters.integer("after", in: 0...Int64.max)
        let limit = Int(try parameters.integer("limit", in: 1...Int64(HistoryPage.mostChanges)) ?? 100)
        let seconds = try parameters.integer("wait", in: 0...Self.longestWait) ?? 0
        if let after, seconds > 0 { try await wait(request, after: after, seconds: seconds) }
        return .json(
            try await reader.read(for: request) { try $0.history(before: before, after: after ?? 0, limit: limit) })
    }

    /// Answers `GET /sync/digest`.
    func digest(_ request: MemberRequest) async throws -> Response {
        let path = try request.parameters.path("path") ?? .root
        return .json(try await reader.read(for: request) { try $0.digest(path) })
    }
}

extension SyncDigest: JSONWritable {}
extension HistoryPage: JSONWritable {}
