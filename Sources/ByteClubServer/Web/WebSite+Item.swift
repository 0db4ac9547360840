import ByteClubCore

extension WebSite {
    /// Shows the page of a photo or of a note.
    func item(_ visit: Visit, _ member: Member) async throws -> Response {
        try await item(at: Self.path(of: visit), visit, member, nil)
    }

    /// Shows the page of a photo or of a note, with a text that is not saved in its form.
    ///
    /// - Throws: ``APIError`` 403 and 409 when the page has no form for the text, 404.
    func item(at path: RemotePath, _ visit: Visit, _ member: Member, _ draft: Draft?) async throws -> Response {
        if draft != nil, member.role < .editor { throw Self.viewersChangeNothing }
        switch GalleryKind(path.name) {
        case .photo?: return try await photo(path, visit, member, draft)
        case .note?: return try await note(path, visit, member, draft)
        case nil: throw APIError(404, "'\(path)' is not a note or photo.")
        }
    }

    /// Which file a page is about.
    static func path(of visit: Visit) throws(APIError) -> RemotePath {
        do {
            return try RemotePath(visit.request.tail.joined(separator: "/"))
        } catch {
            throw APIError(404, "Page not found.")
        }
    }

    /// When a file's content was made, as far as that is known.
    static func fileTime(of entry: FolderEntry) -> APIDate { entry.clientModified?.date ?? entry.modified }

    /// The address of the next item on one side; nil when there is none.
    func neighbour(_ side: GallerySide?, _ visit: Visit, _ member: Member) async throws -> String? {
        guard let side else { return nil }
        return try await listing(visit, member, side, limit: 1).first.map { Self.url(of: $0.entry.path) }
    }

    /// A live file's text with its revision; nil when there is none, or it is longer than `limit` bytes or no UTF-8.
    func text(
        at path: RemotePath, revision: JournalRevision? = nil, limit: Int
    ) async throws -> (text: String, revision: String)? {
        let found: (entry: FolderEntry, content: StoredContent)
        do {
            found = try await store.file(path, revision: revision)
        } catch let error as APIError where error.status == 404 {
            return nil
        }
        guard found.entry.bytes <= Int64(limit), case .bytes(let bytes) = found.content,
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        return (text, JournalRevision(number: found.entry.revision).revision.description)
    }
}
