import ByteClubCore
import HTTPTypes

/// Tells what is in the folder, and what was.
struct FolderHandlers: Sendable {
    private static let largestListing: Int64 = 25_000

    /// What a search in texts answers at most unless more is asked for.
    private static let textMatches: Int64 = 100

    let store: any FolderStore & SearchStore & GalleryStore
    let reader: FolderReader
    let media: MediaInfoReader

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

    /// Adds what is known of pictures; the hash of a listing in which something is pending is no current one.
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
