import ByteClubCore
import HTTPTypes

extension FolderHandlers {
    /// The most photos that one search answers, and how many when nothing is said.
    private static let mostPhotos: Int64 = 10_000
    private static let usualPhotos: Int64 = 1000
    /// The most photos that are looked into while a search waits.
    private static let mostUnread = 2000

    /// Answers `GET /search/<root>/<path>` with `kind`, `taken_after`, `taken_before` or `near`.
    ///
    /// What nobody has looked into yet is looked into first; the answer says so where some are left.
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
    /// Which photos are looked for; nil when nothing is said of photos.
    ///
    /// - Throws: ``APIError`` 400 for what is no list of kinds, no moment or no place.
    func photoFilter() throws(APIError) -> PhotoFilter? {
        var filter = PhotoFilter()
        if let text = self["kind"] {
            guard let kinds = PhotoFilter.kinds(text) else {
                let known = PhotoShape.Kind.allCases.map(\.rawValue).joined(separator: ", ")
                throw APIError(400, "expected kinds separated by commas: \(known)", parameter: "kind")
            }
            filter.kinds = kinds
        }
        filter.since = try moment("taken_after")
        filter.until = try moment("taken_before")
        if let text = self["near"] {
            guard let circle = GeographicCircle(text) else {
                throw APIError(
                    400, "expected degrees north and east, and optionally kilometres: 50.6,6.4,10", parameter: "near")
            }
            filter.near = circle
        }
        return filter.isEmpty ? nil : filter
    }

    private func moment(_ name: String) throws(APIError) -> APIDate? {
        guard let text = self[name] else { return nil }
        guard let moment = PhotoFilter.moment(text) else {
            throw APIError(400, "expected a date, as 2026-08-01 or 2026-08-01T12:00:00Z", parameter: name)
        }
        return moment
    }
}
