import ByteClubCore

/// The text of a note, which is held in memory.
enum NoteContent {
    /// The most bytes a note may have here; larger files can be synced.
    static let limit = 64 << 20

    /// Reads a note's text from the server; nil when there is no such note.
    static func fetch(
        _ path: RemotePath, revision: Revision? = nil, limit: Int = limit, _ remote: any Remote
    ) async throws -> (bytes: [UInt8], metadata: Metadata)? {
        do {
            return try await remote.content(at: path, revision: revision, range: nil, limit: limit)
        } catch {
            if let revision, RevisionArgument.isMissing(revision, error) { return nil }
            guard error.code == .notFound else { throw error }
            return nil
        }
    }
}
