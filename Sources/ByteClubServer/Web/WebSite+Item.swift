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

    private func photo(
        _ path: RemotePath, _ visit: Visit, _ member: Member, _ draft: Draft?
    ) async throws -> Response {
        let entry = try await store.read { try $0.file(path, revision: nil) }
        guard let hash = entry.contentHash else { throw APIError.notFound(path) }
        let info = try await describe([entry], visit, member).first?.photoInfo
        let told = try await text(at: PhotoCaption.path(of: path), limit: Draft.limit)
        let caption = PhotoCaption(note: told?.text ?? "")
        var photo = PhotoTile(info?.shape, view: caption.view, base: "/photos/\(hash)/", upTo: 2048)
        photo.caption = caption.text
        let place = info?.place.map { "\(Self.degrees($0.latitude)), \(Self.degrees($0.longitude))" }
        photo.alt =
            caption.text.isEmpty
            ? Self.alternative(photo, info?.taken?.clock ?? Self.fileTime(of: entry).onServerClock, place)
            : caption.text
        let at = try await store.galleryPlace(of: entry.revision)
        // Browsers show the time of a file by their own clock, but not the time of a photo.
        let page = (
            name: path.name, photo: photo, phrase: photo.phrase, size: HumanSize.text(entry.bytes),
            taken: info?.taken.map(Self.minute), changed: info?.taken == nil ? Moment(Self.fileTime(of: entry)) : nil,
            place: place, geo: info?.place.map { "geo:\($0.latitude),\($0.longitude)" },
            action: Self.url(of: path), newer: try await neighbour(at.map { .newer(than: $0) }, visit, member),
            older: try await neighbour(at.map { .older(than: $0) }, visit, member),
            form: member.role >= .editor ? draft ?? Draft(text: caption.text, revision: told?.revision ?? "") : nil
        )
        return view(
            .photo, page, visit, draft.map { $0.theirs == nil ? 400 : 409 } ?? 200, policy: Self.picturePolicy)
    }

    private static func fileTime(of entry: FolderEntry) -> APIDate { entry.clientModified?.date ?? entry.modified }

    private static func degrees(_ value: Double) -> String {
        let rounded = Int((value * 1e4).rounded())
        let digits = String(abs(rounded) % 10_000)
        return "\(rounded < 0 ? "-" : "")\(abs(rounded) / 10_000)." + String(repeating: "0", count: 4 - digits.count)
            + digits
    }

    private func note(
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

    /// The address of the next item on one side; nil when there is none.
    private func neighbour(_ side: GallerySide?, _ visit: Visit, _ member: Member) async throws -> String? {
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
