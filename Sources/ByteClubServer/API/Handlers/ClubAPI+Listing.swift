import ByteClubCore
import HTTPTypes

/// The operations that list and search the folder and its history.
extension ClubAPI {
    private static let largestListing: Int64 = 25_000

    /// The most results of a search in texts, unless the request asks for more.
    private static let textMatches: Int64 = 100

    /// Answers `GET /metadata/<root>/<path>`.
    func metadata(_ request: MemberRequest) async throws -> Response {
        let parameters = request.parameters
        let isListing = try parameters.bool("list", default: true)
        let includeDeleted = try parameters.bool("include_deleted", default: false)
        let limit = Int(try parameters.integer("file_limit", in: 1...Self.largestListing) ?? 10_000)
        let revision = try parameters.revision("rev")
        let includesMedia = try parameters.bool("include_media_info", default: false)
        _ = try parameters.bool("include_membership", default: false)
        let known = parameters["hash"]
        let path = try request.path()
        if revision != nil || !isListing {
            let entry = try await store.read { folder in
                guard let revision else { return try folder.metadata(path) }
                guard let version = try folder.state.version(path.key, revision: revision.number) else {
                    throw APIError(404, "Revision '\(revision)' of '\(path)' not found")
                }
                return try folder.describe(version)
            }
            return .json(includesMedia ? try await describe(entry, for: request) : entry)
        }
        if includesMedia {
            let found = try await reader.read(for: request) { folder in
                try folder.list(path, unless: known, includeDeleted: includeDeleted, limit: limit)
            }
            guard let found else { return Response(.notModified, body: .none) }
            return .json(try await describe(found, for: request))
        }
        let text = try await reader.read(for: request) { folder in
            try Self.listing(path, in: folder, unless: known, includeDeleted: includeDeleted, limit: limit)
        }
        return text.map { .json($0) } ?? Response(.notModified, body: .none)
    }

    /// Adds the metadata of photos; while some of it is pending, the listing has no hash that would stay valid.
    private func describe(_ entry: Metadata, for request: MemberRequest) async throws -> Metadata {
        var entry = try await media.describe([entry], for: request).first ?? entry
        guard let contents = entry.contents else { return entry }
        let described = try await media.describe(contents, for: request)
        entry.contents = described
        if described.contains(where: { $0.photoInfo?.isPending == true }) { entry.hash?.append("0") }
        return entry
    }

    /// The JSON text of a listing, written as the children are read; nil when its hash is `known` already.
    private static func listing(
        _ path: RemotePath, in folder: SharedFolder, unless known: String?, includeDeleted: Bool,
        limit: Int
    ) throws -> [UInt8]? {
        guard let found = try folder.listing(of: path, unless: known, includeDeleted: includeDeleted) else {
            return nil
        }
        if found.hash == nil { return found.json() }
        var json = JSONText()
        try json.object { json in
            found.writeMembers(to: &json)
            json.key("contents")
            try json.array { json in
                try folder.forEachChild(of: path, includeDeleted: includeDeleted, limit: limit) { child in
                    child.write(to: &json)
                }
            }
        }
        return json.bytes
    }

    /// Answers `GET /search/<root>/<path>`.
    func search(_ request: MemberRequest) async throws -> Response {
        if let filter = try request.parameters.photoFilter() { return try await searchPhotos(request, filter) }
        let text = try request.parameters.required("query")
        let isInTexts = try request.parameters.bool("content", default: false)
        let limit = Int(
            min(
                1000,
                try request.parameters.integer("file_limit", in: 1...Int64.max)
                    ?? (isInTexts ? Self.textMatches : 1000)))
        let includeDeleted = try request.parameters.bool("include_deleted", default: false)
        let path = try request.path()
        if isInTexts {
            let query = try TextQuery(text)
            let results = try await reader.inTurn(for: request) { [store] in
                try await store.searchTexts(path, query: query, includeDeleted: includeDeleted, limit: limit)
            }
            var response = Response.json(results.entries)
            if !results.isComplete { response.headers[.searchState] = "incomplete" }
            return response
        }
        let query = try SearchQuery(text)
        return .json(
            try await reader.read(for: request) { folder in
                try folder.search(path, query: query, limit: limit, includeDeleted: includeDeleted)
            })
    }

    /// Answers `GET /revisions/<root>/<path>`.
    func revisions(_ request: MemberRequest) async throws -> Response {
        let limit = Int(try request.parameters.integer("rev_limit", in: 1...1000) ?? 10)
        let before = try request.parameters.revision("before")
        let path = try request.path()
        return .json(
            try await reader.read(for: request) { try $0.revisions(path, before: before?.number, limit: limit) })
    }
}

extension ClubAPI {
    /// The most photos in the answer to a search, and the default.
    private static let mostPhotos: Int64 = 10_000
    private static let usualPhotos: Int64 = 1000
    /// The most photos that are looked into while a search waits.
    private static let mostUnread = 2000

    /// Answers `GET /search/<root>/<path>` with `kind`, `taken_after`, `taken_before` or `near`.
    ///
    /// Photos that no request has read yet are read first; a header reports whether some are left.
    func searchPhotos(_ request: MemberRequest, _ filter: PhotoFilter) async throws -> Response {
        let parameters = request.parameters
        for name in ["content", "include_deleted"] where try parameters.bool(name, default: false) {
            throw APIError(400, "'\(name)' does not apply to photo searches", parameter: name)
        }
        let name = try parameters["query"].map { text throws(APIError) in try SearchQuery(text) }
        let limit = Int(
            min(
                Self.mostPhotos, try parameters.integer("file_limit", in: 1...Int64.max) ?? Self.usualPhotos))
        let path = try request.path()
        let unread = try await reader.inTurn(for: request) { [store] in
            try await store.unreadPhotos(below: path, limit: Self.mostUnread)
        }
        let isUnread = try await media.describe(unread.map { Metadata($0) }, for: request)
            .contains { $0.photoInfo?.isPending == true }
        var found = try await reader.inTurn(for: request) { [store] in
            try await store.photos(below: path, matching: filter, named: name, limit: limit + 1)
        }
        let isCut = found.count > limit
        if isCut { found.removeLast() }
        var response = Response.json(try await media.describe(found, for: request))
        if isCut || isUnread || unread.count == Self.mostUnread { response.headers[.searchState] = "incomplete" }
        return response
    }
}

extension Parameters {
    /// The filter for photos; nil when the request has no field of it.
    ///
    /// - Throws: ``APIError`` 400 for a malformed list of kinds, moment or place.
    func photoFilter() throws(APIError) -> PhotoFilter? {
        var filter = PhotoFilter()
        let known = { PhotoShape.Kind.allCases.map(\.rawValue).joined(separator: ", ") }
        filter.kinds = try value("kind", or: "expected kinds separated by commas: \(known())", PhotoFilter.kinds)
        filter.since = try moment("taken_after")
        filter.until = try moment("taken_before")
        let circle = "expected degrees north and east, and optionally kilometres: 50.6,6.4,10"
        filter.near = try value("near", or: circle) { GeographicCircle($0) }
        return filter.isEmpty ? nil : filter
    }

    private func moment(_ name: String) throws(APIError) -> APIDate? {
        try value(name, or: "expected a date, as 2026-08-01 or 2026-08-01T12:00:00Z", PhotoFilter.moment)
    }
}
