public import ByteClubCore

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
