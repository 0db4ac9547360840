import ByteClubCore

extension WebSite {
    /// The longest text that is edited on a page, in bytes; a form has room for it however it is encoded.
    static let editableLimit = 20_000

    /// A text that somebody edits, and what it was made of.
    private struct Draft {
        var text: String
        /// The version that it was made of; empty when there was none.
        var revision: String
        var problem: String?
        /// What somebody else has saved meanwhile.
        var theirs: String?
    }

    /// Shows the page of a photo or of a note.
    func item(_ visit: Visit, _ member: Member) async throws -> Response { try await item(visit, member, draft: nil) }

    private func item(_ visit: Visit, _ member: Member, draft: Draft?) async throws -> Response {
        let path = try Self.path(of: visit)
        switch GalleryKind(path.name) {
        case .photo?: return try await photo(path, visit, member, draft)
        case .note?: return try await note(path, visit, member, draft)
        case nil: throw APIError(404, "'\(path)' is neither a note nor a photo.")
        }
    }

    private static func path(of visit: Visit) throws(APIError) -> RemotePath {
        do {
            return try RemotePath(visit.request.tail.joined(separator: "/"))
        } catch {
            throw APIError(404, "There is no page at this address.")
        }
    }

    private func photo(
        _ path: RemotePath, _ visit: Visit, _ member: Member, _ draft: Draft?
    ) async throws -> Response {
        let entry = try await store.read { try $0.file(path, revision: nil) }
        guard let hash = entry.contentHash else { throw APIError.notFound(path) }
        let info = try await describe([entry], visit, member).first?.photoInfo
        let told = try await text(at: PhotoCaption.path(of: path), limit: Self.editableLimit)
        let caption = PhotoCaption(note: told?.text ?? "")
        let date = info?.taken ?? entry.clientModified?.date ?? entry.modified
        let photo = PhotoTile(hash, info?.shape, view: caption.view)
        var values: [String: Any] = photo.image(upTo: 2048).merging(photo.viewer) { $1 }
        values["sizes"] = "100vw"
        values["name"] = path.name
        values["date"] = Self.minute(date)
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
        values["alt"] = caption.text.isEmpty ? Self.alternative(photo, date, place) : caption.text
        let here = GalleryPlace(seconds: date.seconds, revision: entry.revision)
        try await addNeighbours(of: here, to: &values, visit, member)
        addForm(draft ?? Draft(text: caption.text, revision: told?.revision ?? ""), path, to: &values, member)
        return view(
            .photo, values, visit, draft.map { $0.theirs == nil ? 400 : 409 } ?? 200, policy: Self.picturePolicy)
    }

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
        var values: [String: Any] = ["name": path.name, "date": Self.minute(entry.modified)]
        if let note = try await text(at: path, limit: Self.shownLimit) {
            values["html"] = NoteHTML(note.text).html
            if note.text.utf8.count <= Self.editableLimit || draft != nil {
                addForm(draft ?? Draft(text: note.text, revision: note.revision), path, to: &values, member)
            }
        } else {
            values["isUnreadable"] = true
        }
        let date = entry.clientModified?.date ?? entry.modified
        try await addNeighbours(
            of: GalleryPlace(seconds: date.seconds, revision: entry.revision), to: &values, visit, member)
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
        of place: GalleryPlace, to values: inout [String: Any], _ visit: Visit, _ member: Member
    ) async throws {
        for (name, side) in [("newer", GallerySide.newer(than: place)), ("older", .older(than: place))] {
            if let next = try await listing(visit, member, side, limit: 1).first {
                values[name] = Self.url(of: next.entry.path)
            }
        }
    }

    /// A live file's text with its revision; nil when there is none, or it is longer than `limit` bytes or no UTF-8.
    private func text(
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

    // MARK: - Saving

    /// Saves a note or a photo's caption against the version that it was made of.
    ///
    /// What others have saved meanwhile is merged where the changes do not touch each other; else nothing is saved, and
    /// the page shows both texts.
    func save(_ visit: Visit, _ member: Member) async throws -> Response {
        guard member.role >= .editor else { throw APIError(403, "Viewers read, and change nothing.") }
        let path = try Self.path(of: visit)
        guard let kind = GalleryKind(path.name) else { throw APIError(404, "'\(path)' is no note.") }
        let mine = Self.lines(visit["text"] ?? "")
        let revision = visit["parent_rev"] ?? ""
        guard mine.utf8.count <= Self.editableLimit else {
            let problem = "This is longer than \(Self.editableLimit) bytes, and was not saved."
            return try await item(visit, member, draft: Draft(text: mine, revision: revision, problem: problem))
        }
        let file = kind == .photo ? try PhotoCaption.path(of: path) : path
        let parent = revision.isEmpty ? nil : JournalRevision(revision)
        if !revision.isEmpty, parent == nil { throw APIError(400, "This form is malformed.") }
        let base =
            if let parent { try await text(at: file, revision: parent, limit: Self.editableLimit)?.text ?? "" } else {
                ""
            }
        let whole = kind == .photo ? Self.caption(mine, in: base) : mine
        if whole.isEmpty, kind == .note || parent == nil {
            if kind == .photo { return redirect(Self.url(of: path)) }
            let problem = "An empty note is not saved."
            return try await item(visit, member, draft: Draft(text: mine, revision: revision, problem: problem))
        }
        var (text, condition) = (whole, parent.map { WriteCondition.parent($0.revision) } ?? .create)
        for _ in 0..<4 {
            do {
                try await write(text, to: file, condition, member)
                return redirect(Self.url(of: path))
            } catch let error as APIError where error.status == 409 {
                guard let now = try await self.text(at: file, limit: Self.editableLimit) else { break }
                // The same text from two people.
                if now.text == whole { return redirect(Self.url(of: path)) }
                let merged =
                    parent == nil
                    ? nil
                    : TextMerge.merge(base: Array(base.utf8), mine: Array(whole.utf8), theirs: Array(now.text.utf8))
                guard let merged else {
                    let theirs = kind == .photo ? PhotoCaption(note: now.text).text : now.text
                    return try await item(
                        visit, member,
                        draft: Draft(
                            text: mine, revision: now.revision,
                            problem:
                                "Somebody else has saved this meanwhile, so yours is not saved yet. Take over what "
                                + "you want from theirs, and save again.", theirs: theirs))
                }
                guard let theirs = JournalRevision(now.revision) else { break }
                (text, condition) = (String(decoding: merged, as: UTF8.self), .parent(theirs.revision))
            } catch let error as APIError {
                return try await item(
                    visit, member, draft: Draft(text: mine, revision: revision, problem: error.message))
            }
        }
        let problem = "This was changed too often meanwhile, and is not saved yet. Save it again."
        return try await item(visit, member, draft: Draft(text: mine, revision: revision, problem: problem))
    }

    private static func caption(_ text: String, in note: String) -> String {
        var caption = PhotoCaption(note: note)
        caption.text = text
        return caption.note
    }

    /// What a form sends has lines that end as on the wire.
    private static func lines(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars where scalar != "\r" { result.unicodeScalars.append(scalar) }
        return result
    }

    private func write(
        _ text: String, to path: RemotePath, _ condition: WriteCondition, _ member: Member
    ) async throws {
        guard let content = StagedContent(inline: Array(text.utf8)) else {
            throw APIError(413, "This is too long to be saved here.")
        }
        let (bytes, hash) = (content.bytes, content.hash)
        do {
            _ = try await store.write(by: member.uid, storing: content) { folder in
                try folder.put(path, bytes: bytes, hash: hash, condition: condition, policy: .fail)
            }
        } catch let error as StorageError {
            throw ServerFault.refusal(for: error)
        }
    }
}
