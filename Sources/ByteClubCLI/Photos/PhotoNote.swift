import ByteClubCore

/// The note beside a photo, with its caption and its view.
struct PhotoNote: Sendable {
    /// The most bytes to read; captions are far shorter.
    private static let limit = 1 << 20

    /// Its path.
    let path: RemotePath
    /// Its contents.
    var caption: PhotoCaption
    /// The version that was read; nil for a new note.
    let revision: Revision?
    /// Whether the note is text, so that storing it again loses nothing.
    private let isText: Bool

    /// Reads a photo's note; an empty one when there is none.
    init(of photo: RemotePath, _ remote: any Remote) async throws {
        path = try PhotoCaption.path(of: photo)
        let note = try await NoteContent.fetch(path, limit: Self.limit, remote)
        let bytes = note?.bytes ?? []
        isText = String(validating: bytes, as: UTF8.self) != nil
        caption = PhotoCaption(note: String(decoding: bytes, as: UTF8.self))
        revision = note?.metadata.rev
    }

    /// Reads the note of a photo, which must exist; an empty one when there is none.
    init(ofExisting photo: RemotePath, _ remote: any Remote) async throws {
        _ = try await PhotoShow.metadata(of: photo, remote)
        try await self.init(of: photo, remote)
    }

    /// Reads a photo's note; nil when the photo's name is too long for one.
    static func ifPossible(of photo: RemotePath, _ remote: any Remote) async throws -> PhotoNote? {
        guard (try? PhotoCaption.path(of: photo)) != nil else { return nil }
        return try await PhotoNote(of: photo, remote)
    }

    /// The caption without a line end.
    var text: String {
        var text = caption.text[...]
        while text.last?.isNewline == true { text.removeLast() }
        return String(text)
    }

    /// Stores the note if its version is unchanged; an empty note is removed.
    ///
    /// - Throws: A ``Failure`` when another member has changed it since, or when it is not text.
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

/// Restores the caption with a removed photo.
enum CaptionRestoration {
    /// Seconds between the removal of a photo and of its caption; a mirror may send the two in either order.
    private static let together: ClosedRange<Int64> = -2...60

    /// When an entry was removed; nil for an existing entry, or when unknown.
    static func removal(of path: RemotePath, _ remote: any Remote) async throws -> APIDate? {
        try await removed(path, limit: 1, remote)?.date
    }

    /// Restores and returns the caption that was removed with a photo at a time; nil when there is none, or a new one.
    static func restore(
        captionOf photo: RemotePath, removedAt date: APIDate?, _ remote: any Remote
    ) async throws -> Metadata? {
        guard let date, let path = try? PhotoCaption.path(of: photo),
            let caption = try await removed(path, limit: EntryVersions.most, remote), let last = caption.last,
            together.contains(caption.date.seconds - date.seconds)
        else { return nil }
        return try await remote.restore(path, to: last)
    }

    private static func removed(
        _ path: RemotePath, limit: Int, _ remote: any Remote
    ) async throws -> (date: APIDate, last: Revision?)? {
        let versions: [Metadata]
        do {
            versions = try await remote.revisions(of: path, limit: limit)
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
        guard let newest = versions.first, newest.isDeleted, let date = newest.modified else { return nil }
        return (date, versions.first { !$0.isDeleted }?.rev)
    }
}
