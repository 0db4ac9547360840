import ByteClubCore

/// The note beside a photo, with what members say of it and how they want it to be looked at.
struct PhotoNote: Sendable {
    /// The most bytes that are read of one: far more than anybody says of a photo.
    private static let limit = 1 << 20

    /// Where it is.
    let path: RemotePath
    /// What it says.
    var caption: PhotoCaption
    /// The version that was read; nil when there is no note.
    let revision: Revision?
    /// Whether the note is text, so that all of it would be there again when it is stored.
    private let isText: Bool

    /// Reads the note of a photo; an empty one when there is none.
    init(of photo: RemotePath, _ remote: any Remote) async throws {
        path = try PhotoCaption.path(of: photo)
        let note = try await NoteContent.fetch(path, limit: Self.limit, remote)
        let bytes = note?.bytes ?? []
        isText = String(validating: bytes, as: UTF8.self) != nil
        caption = PhotoCaption(note: String(decoding: bytes, as: UTF8.self))
        revision = note?.metadata.rev
    }

    /// Reads the note of a photo; nil when the photo's name leaves no room for one.
    static func ifPossible(of photo: RemotePath, _ remote: any Remote) async throws -> PhotoNote? {
        guard (try? PhotoCaption.path(of: photo)) != nil else { return nil }
        return try await PhotoNote(of: photo, remote)
    }

    /// What it says, without the line end after it.
    var text: String {
        var text = caption.text[...]
        while text.last?.isNewline == true { text.removeLast() }
        return String(text)
    }

    /// Stores the note against the version that was read; a note that says nothing is removed.
    ///
    /// - Throws: A ``Failure`` when somebody changed it meanwhile, and when it is no text.
    func save(_ remote: any Remote) async throws {
        guard isText else {
            throw Failure(.badData, "'\(path.name)' is not UTF-8 text; nothing was changed, edit it by hand")
        }
        do {
            let bytes = Array(caption.note.utf8)
            if !bytes.isEmpty {
                _ = try await remote.put(
                    .bytes(bytes), at: path, condition: revision.map { .parent($0) } ?? .create, policy: .fail,
                    progress: nil)
            } else if let revision {
                _ = try await remote.delete(path, ifUnchangedSince: revision)
            }
        } catch {
            guard error.code == .conflict else { throw error }
            throw Failure(
                .tryAgain, "'\(path.name)' was just changed by somebody else and was kept; check it and try again")
        }
    }
}
