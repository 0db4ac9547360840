/// The calls of ``RemotePowers/photoSearch``.
public protocol PhotoSearchRemote: Sendable {
    /// The photos below a folder that a filter looks for, each with what it is as a picture, the newest first.
    /// `GET /search` with `kind`, `taken_after`, `taken_before` or `near`
    ///
    /// The answer is incomplete where there are more than `limit`, and where photos are still to be looked at.
    func searchPhotos(
        _ path: RemotePath, _ filter: PhotoFilter, limit: Int
    ) async throws(RemoteError) -> PhotoSearchResults
}

/// What a search for photos found.
public struct PhotoSearchResults: Hashable, Sendable {
    /// The photos, the newest first.
    public var photos: [Metadata]
    /// Whether there are no more.
    public var isComplete: Bool

    /// Creates an answer.
    public init(photos: [Metadata], isComplete: Bool) {
        self.photos = photos
        self.isComplete = isComplete
    }
}
