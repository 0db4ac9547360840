import ByteClubCore

extension MediaInfo {
    /// The version of the reader whose findings a store keeps: what another version found counts as unknown.
    ///
    /// Raise it with every change of what ``MediaInfoReader`` finds. A migration must delete what older versions found,
    /// so that searches read it again (``Schema/keepClocks(_:)``).
    static let version = 4
}

/// What was read from photos, by their contents, so that none is read twice; and which photos there are.
protocol MediaInfoStore: Sendable {
    /// What ``keep(_:)`` has stored for some contents in this ``MediaInfo/version``.
    func mediaInfo(of hashes: [ContentHash]) async throws -> [ContentHash: MediaInfo]

    /// Keeps what was read from contents.
    func keep(_ found: [ContentHash: MediaInfo]) async throws

    /// The live files that are photos by their names and have a content, at most `limit`.
    func photos(with hash: ContentHash, limit: Int) async throws -> [FolderEntry]

    /// Those of some contents that no version of a photo has, live or not.
    func withoutPhotos(_ hashes: [ContentHash]) async throws -> [ContentHash]
}
