import ByteClubCore

/// The operations by which programs of Core API v1 learn of changes.
extension ClubAPI {
    /// The most entries of one page of changes.
    private static let pageSize = 2000

    /// Answers `POST /delta`.
    func delta(_ request: MemberRequest) async throws -> Response {
        let start = try start(request)
        let position = try request.parameters["cursor"].map { text throws(APIError) in
            try continuation(text, from: start)
        }
        let (told, next) = try await reader.read(for: request) { folder in
            try folder.delta(after: position, start: start, limit: Self.pageSize)
        }
        var page = told
        if start.includesMediaInfo { page.entries = try await describe(page.entries, for: request) }
        page.cursor = next.sealed(with: store.signingKey)
        return .json(page)
    }

    /// Answers `POST /delta/latest_cursor`.
    func latestCursor(_ request: MemberRequest) async throws -> Response {
        var cursor = try start(request)
        cursor.revision = try await store.read { try $0.state.lastRevision() }
        return .object { $0.member("cursor", cursor.sealed(with: store.signingKey)) }
    }

    /// Answers `GET /longpoll_delta`, which has no token: the cursor names the member.
    func longpollDelta(_ request: RoutedRequest) async throws -> Response {
        guard let text = request.parameters["cursor"], let cursor = DeltaCursor(sealed: text, key: store.signingKey)
        else {
            // Only members get cursors, so a cursor counts as an account.
            try authenticator.countAnonymous(request.request)
            _ = try request.parameters.required("cursor")
            throw Self.badCursor
        }
        try authenticator.count(callOf: cursor.member)
        let standing = Standing.member(cursor.member)
        guard try await store.lapsed([standing]).isEmpty else {
            throw APIError(401, "the member whose cursor this is was removed")
        }
        request.request.open.rest(on: standing)
        let seconds = try request.parameters.integer("timeout", in: settings.longpollMinimum...480) ?? 30
        if cursor.includesMediaInfo { throw Self.badCursor }
        if cursor.epoch != store.epoch { return .json(LongpollResult(changes: true)) }
        let changes = try await request.waitForChange(
            in: store, after: cursor.revision, prefix: cursor.prefix, atMost: .seconds(seconds))
        return .json(LongpollResult(changes: changes))
    }

    private func describe(_ entries: [DeltaEntry], for request: MemberRequest) async throws -> [DeltaEntry] {
        var described = try await media.describe(entries.compactMap(\.metadata), for: request)[...]
        return entries.map { DeltaEntry(key: $0.key, metadata: $0.metadata == nil ? nil : described.popFirst()) }
    }

    private static var badCursor: APIError {
        APIError(400, "the cursor is not valid for this account", parameter: "cursor")
    }

    private func start(_ request: MemberRequest) throws -> DeltaCursor {
        let prefix = try request.parameters.path("path_prefix") ?? .root
        let media = try request.parameters.bool("include_media_info", default: false)
        return DeltaCursor(
            epoch: store.epoch, member: request.member.uid, prefix: prefix.key, includesMediaInfo: media)
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
