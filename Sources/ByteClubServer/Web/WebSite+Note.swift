import ByteClubCore

extension WebSite {
    /// Shows the page of a note, with a text that is not saved in its form.
    func note(
        _ path: RemotePath, _ visit: Visit, _ member: Member, _ draft: Draft?
    ) async throws -> Response {
        let entry = try await store.read { try $0.file(path, revision: nil) }
        let note = try await text(at: path, limit: Self.shownLimit)
        if note == nil, draft != nil {
            throw APIError(409, "'\(path)' has changed, and is too long to edit here or not text.")
        }
        var shown = draft
        if shown == nil, let note, note.text.utf8.count <= Draft.limit {
            shown = Draft(text: note.text, revision: note.revision)
        }
        let at = try await store.galleryPlace(of: entry.revision)
        let page = (
            name: path.name, changed: Moment(Self.fileTime(of: entry)), html: note.map { NoteHTML($0.text).html },
            isUnreadable: note == nil, action: Self.url(of: path),
            newer: try await neighbour(at.map { .newer(than: $0) }, visit, member),
            older: try await neighbour(at.map { .older(than: $0) }, visit, member),
            form: member.role >= .editor ? shown : nil
        )
        return view(.note, page, visit, draft.map { $0.theirs == nil ? 400 : 409 } ?? 200, policy: Self.picturePolicy)
    }

    /// The longest note that is shown, in bytes.
    private static let shownLimit = 64 << 10
}
