import ByteClubCore

/// What was read from photos, by their contents, so that none is read twice; and which photos there are.
protocol MediaInfoStore: Sendable {
    /// What ``keep(_:)`` was told of some contents by a reader of this version.
    func mediaInfo(of hashes: [ContentHash]) async throws -> [ContentHash: MediaInfo]

    /// Keeps what was read from contents.
    func keep(_ found: [ContentHash: MediaInfo]) async throws

    /// The live files that are photos by their names and have a content, at most `limit`.
    func photos(with hash: ContentHash, limit: Int) async throws -> [FolderEntry]

    /// Those of some contents that no version of a photo has, live or not.
    func withoutPhotos(_ hashes: [ContentHash]) async throws -> [ContentHash]
}
