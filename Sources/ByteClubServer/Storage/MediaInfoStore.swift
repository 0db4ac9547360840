import ByteClubCore

/// What was read from photos, by their contents, so that none is read twice.
protocol MediaInfoStore: Sendable {
    /// What ``keep(_:)`` was told of some contents.
    func mediaInfo(of hashes: [ContentHash]) async throws -> [ContentHash: MediaInfo]

    /// Keeps what was read from contents.
    func keep(_ found: [ContentHash: MediaInfo]) async throws
}
