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
        let photo = PhotoTile(hash, info?.shape, view: caption.view)
        var values: [String: Any] = photo.image(upTo: 2048).merging(photo.viewer) { $1 }
        values["sizes"] = "100vw"
        values["name"] = path.name
        addTime(info?.taken, of: entry, to: &values)
        values["phrase"] = photo.phrase
        values["caption"] = caption.text
        values["original"] = photo.base + "original.jpg"
        values["size"] = HumanSize.text(entry.bytes)
        var place: String?
        if let found = info?.place {
            let text = "\(Self.degrees(found.latitude)), \(Self.degrees(found.longitude))"
            place = text
            values["place"] = text
            values["geo"] = "geo:\(found.latitude),\(found.longitude)"
        }
        values["alt"] =
            caption.text.isEmpty
            ? Self.alternative(photo, info?.taken?.clock ?? Self.fileTime(of: entry).onServerClock, place)
            : caption.text
        try await addNeighbours(of: entry, to: &values, visit, member)
        addForm(draft ?? Draft(text: caption.text, revision: told?.revision ?? ""), path, to: &values, member)
        return view(
            .photo, values, visit, draft.map { $0.theirs == nil ? 400 : 409 } ?? 200, policy: Self.picturePolicy)
    }

    /// When a photo was taken, by the clock of the place, or when the file was changed, which browsers show by theirs.
    private func addTime(_ taken: TakenTime?, of entry: FolderEntry, to values: inout [String: Any]) {
        if let taken {
            values["taken"] = Self.minute(taken)
        } else {
            values["changed"] = Self.moment(Self.fileTime(of: entry))
        }
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
        var values: [String: Any] = ["name": path.name]
        addTime(nil, of: entry, to: &values)
        if let note = try await text(at: path, limit: Self.shownLimit) {
            values["html"] = NoteHTML(note.text).html
            if note.text.utf8.count <= Draft.limit || draft != nil {
                addForm(draft ?? Draft(text: note.text, revision: note.revision), path, to: &values, member)
            }
        } else if draft != nil {
            throw APIError(409, "'\(path)' has changed, and is too long to edit here or not text.")
        } else {
            values["isUnreadable"] = true
        }
        try await addNeighbours(of: entry, to: &values, visit, member)
        return view(.note, values, visit, draft.map { $0.theirs == nil ? 400 : 409 } ?? 200, policy: Self.picturePolicy)
    }

    /// The longest note that is shown, in bytes.
    private static let shownLimit = 64 << 10

    private func addForm(_ draft: Draft, _ path: RemotePath, to values: inout [String: Any], _ member: Member) {
        values["action"] = Self.url(of: path)
        guard member.role >= .editor else { return }
        values["form"] = [
            "text": draft.text, "revision": draft.revision, "problem": draft.problem as Any? ?? false,
            "theirs": draft.theirs as Any? ?? false, "isOpen": draft.problem != nil,
        ]
    }

    private func addNeighbours(
        of entry: FolderEntry, to values: inout [String: Any], _ visit: Visit, _ member: Member
    ) async throws {
        guard let place = try await store.galleryPlace(of: entry.revision) else { return }
        for (name, side) in [("newer", GallerySide.newer(than: place)), ("older", .older(than: place))] {
            if let next = try await listing(visit, member, side, limit: 1).first {
                values[name] = Self.url(of: next.entry.path)
            }
        }
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
