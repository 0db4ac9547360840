import ByteClubCore
import ServiceLifecycle

extension ClubAPI {
    /// Answers `POST /delta`.
    func delta(_ call: Call) async throws -> Answer {
        let start = try start(call)
        let position = try call.parameters["cursor"].map { text throws(APIError) in
            try continuation(text, from: start)
        }
        let (told, next) = try await read(call) { folder in
            try folder.delta(after: position, start: start, limit: Self.pageSize)
        }
        var page = told
        if start.includesMediaInfo { page.entries = try await describeMedia(of: page.entries, for: call) }
        page.cursor = next.sealed(with: store.signingKey)
        return .json(page)
    }

    /// Answers `POST /delta/latest_cursor`.
    func latestCursor(_ call: Call) async throws -> Answer {
        var cursor = try start(call)
        cursor.revision = try await store.read { try $0.state.lastRevision() }
        return .json(LatestCursor(cursor: cursor.sealed(with: store.signingKey)))
    }

    /// Answers `GET /longpoll_delta`.
    func longpollDelta(_ call: Call) async throws -> Answer {
        guard let text = call.parameters["cursor"], let cursor = DeltaCursor(sealed: text, key: store.signingKey) else {
            // Members alone are given cursors, so one stands for an account.
            try settings.limits.countAnonymous(from: call.client.address)
            _ = try call.parameters.required("cursor")
            throw Self.badCursor
        }
        let seconds = try call.parameters.integer("timeout", in: settings.longpollMinimum...480) ?? 30
        if cursor.includesMediaInfo { throw Self.badCursor }
        if cursor.epoch != store.epoch { return .json(LongpollResult(changes: true)) }
        let store = store
        do {
            let changes = try await call.whileClientWaits {
                try await cancelWhenGracefulShutdown {
                    try await store.waitForChange(
                        after: cursor.revision, prefix: cursor.prefix, timeout: .seconds(seconds))
                }
            }
            return .json(LongpollResult(changes: changes))
        } catch is CancellationError {
            return .json(LongpollResult(changes: false))
        }
    }

    private func describeMedia(of entries: [DeltaEntry], for call: Call) async throws -> [DeltaEntry] {
        var described = try await describeMedia(of: entries.compactMap(\.metadata), for: call)[...]
        return entries.map { DeltaEntry(key: $0.key, metadata: $0.metadata == nil ? nil : described.popFirst()) }
    }

    private static var badCursor: APIError {
        APIError(400, "the cursor is not one of this account", parameter: "cursor")
    }

    private func start(_ call: Call) throws -> DeltaCursor {
        let prefix = try call.parameters.path("path_prefix") ?? .root
        let media = try call.parameters.bool("include_media_info", default: false)
        return DeltaCursor(
            epoch: store.epoch, member: try call.requireMember().uid, prefix: prefix.key, includesMediaInfo: media)
    }

    /// The place that a client's cursor names; the prefix may only become narrower.
    private func continuation(_ text: String, from start: DeltaCursor) throws(APIError) -> DeltaCursor {
        guard let cursor = DeltaCursor(sealed: text, key: store.signingKey), cursor.member == start.member else {
            throw Self.badCursor
        }
        guard start.prefix == cursor.prefix || start.prefix.isBelow(cursor.prefix) else {
            throw APIError(400, "the cursor was made with another path_prefix", parameter: "cursor")
        }
        guard start.includesMediaInfo == cursor.includesMediaInfo else {
            throw APIError(400, "the cursor was made with another value", parameter: "include_media_info")
        }
        return cursor
    }
}

/// What `/delta/latest_cursor` answers.
private struct LatestCursor: JSONWritable {
    let cursor: String

    func write(to json: inout JSONText) {
        json.object { json in
            json.key("cursor")
            json.value(cursor)
        }
    }
}
