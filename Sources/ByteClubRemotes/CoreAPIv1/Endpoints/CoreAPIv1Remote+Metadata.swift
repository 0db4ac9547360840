public import ByteClubCore
import HTTPTypes

extension CoreAPIv1Remote: TextSearchRemote {
    /// The most children of one folder that the protocol lists.
    private static var listingLimit: String { String(Metadata.mostContents) }

    /// Describes one entry. `GET /1/metadata/<root>/<path>?list=false`
    public func metadata(at path: RemotePath) async throws(RemoteError) -> Metadata {
        try await transport.get(address("metadata", path), query: ["list": "false"]).decoded()
    }

    /// Describes a folder with its children. `GET /1/metadata/<root>/<path>?list=true`
    public func list(
        _ path: RemotePath, unless hash: String?, includeDeleted: Bool
    ) async throws(RemoteError) -> Metadata? {
        let answer = try await transport.get(
            address("metadata", path),
            query: [
                "list": "true", "file_limit": Self.listingLimit, "hash": hash,
                "include_deleted": includeDeleted ? "true" : nil,
            ], statuses: hash == nil ? [200] : [200, 304])
        return answer.status == 304 ? nil : try answer.decoded(Metadata.self)
    }

    /// Describes a folder with its children, and photos with ``MediaInfo``. `GET
    /// /1/metadata/<root>/<path>?list=true&include_media_info=true`
    public func listWithMediaInfo(
        _ path: RemotePath, includeDeleted: Bool
    ) async throws(RemoteError) -> Metadata? {
        try await transport.get(
            address("metadata", path),
            query: [
                "list": "true", "file_limit": Self.listingLimit, "include_media_info": "true",
                "include_deleted": includeDeleted ? "true" : nil,
            ]
        ).decoded(Metadata.self)
    }

    /// The entries below a folder whose names match. `GET /1/search/<root>/<path>`
    public func search(_ path: RemotePath, query: String, limit: Int) async throws(RemoteError) -> [Metadata] {
        try await transport.get(
            address("search", path), query: ["query": query, "file_limit": String(limit)]
        ).decoded(MetadataList.self).entries
    }

    /// The entries below a folder whose names or texts match. `GET /1/search/<root>/<path>?content=true`
    public func searchTexts(
        _ path: RemotePath, query: String, limit: Int
    ) async throws(RemoteError) -> TextSearchResults {
        let answer = try await transport.get(
            address("search", path), query: ["query": query, "file_limit": String(limit), "content": "true"])
        return TextSearchResults(
            try answer.decoded(MetadataList.self).entries, isComplete: !answer.isIncompleteSearch)
    }

    /// A file's versions, newest first. `GET /1/revisions/<root>/<path>`
    public func revisions(
        of path: RemotePath, before revision: Revision?, limit: Int
    ) async throws(RemoteError) -> [Metadata] {
        var query: Parameters = ["rev_limit": String(limit)]
        query["before"] = revision?.description
        return try await transport.get(address("revisions", path), query: query).decoded(MetadataList.self).entries
    }
}

extension CoreAPIv1Remote: PhotoSearchRemote {
    /// The photos below a folder that a filter looks for. `GET /1/search/<root>/<path>?kind=…`
    ///
    /// A filter that restricts nothing finds every photo whose kind is known.
    public func searchPhotos(
        _ path: RemotePath, _ filter: PhotoFilter, limit: Int
    ) async throws(RemoteError) -> PhotoSearchResults {
        let kinds = filter.isEmpty ? Set(PhotoShape.Kind.allCases) : filter.kinds
        let answer = try await transport.get(
            address("search", path),
            query: [
                "kind": kinds?.map(\.rawValue).sorted().joined(separator: ","),
                "taken_after": filter.since?.rfc3339, "taken_before": filter.until?.rfc3339,
                "near": filter.near?.description, "file_limit": String(limit),
            ])
        return PhotoSearchResults(
            photos: try answer.decoded(MetadataList.self).entries, isComplete: !answer.isIncompleteSearch)
    }
}
