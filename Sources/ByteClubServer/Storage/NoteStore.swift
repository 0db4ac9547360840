import ByteClubCore

/// The notes of the folder.
protocol NoteStore: Sendable {
    /// The notes with the beginnings of their texts, the newest first, at most `limit`; no captions of photos.
    func notes(limit: Int) async throws -> [NoteItem]
}

/// A note with the beginning of its text.
struct NoteItem: Hashable, Sendable {
    /// The file.
    let entry: FolderEntry
    /// The date of the file by the server's clock.
    let date: APIDate
    /// The beginning of the text; nil for one that is too large for the database.
    let text: [UInt8]?
}
