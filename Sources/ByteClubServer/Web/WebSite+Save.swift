import ByteClubCore

extension WebSite {
    /// Saves a note or a photo's caption against the version that it was made of.
    ///
    /// What others have saved meanwhile is merged where the changes do not touch each other; else nothing is saved, and
    /// the page shows both texts.
    func save(_ visit: Visit, _ member: Member) async throws -> Response {
        guard member.role >= .editor else { throw Self.viewersChangeNothing }
        let path = try Self.path(of: visit)
        guard let kind = GalleryKind(path.name) else { throw APIError(404, "'\(path)' is not a note.") }
        let mine = Self.lines(visit["text"] ?? "")
        let revision = visit["parent_rev"] ?? ""
        guard mine.utf8.count <= Draft.limit else {
            let problem = "This is longer than \(Draft.limit) bytes and was not saved."
            return try await item(at: path, visit, member, Draft(text: mine, revision: revision, problem: problem))
        }
        let file = kind == .photo ? try PhotoCaption.path(of: path) : path
        let parent = revision.isEmpty ? nil : JournalRevision(revision)
        if !revision.isEmpty, parent == nil { throw APIError(400, "This form is malformed.") }
        let base =
            if let parent { try await text(at: file, revision: parent, limit: Draft.limit)?.text ?? "" } else {
                ""
            }
        let whole = kind == .photo ? Self.caption(mine, in: base) : mine
        if whole.isEmpty, kind == .note || parent == nil {
            if kind == .photo { return redirect(Self.url(of: path)) }
            let problem = "An empty note cannot be saved."
            return try await item(at: path, visit, member, Draft(text: mine, revision: revision, problem: problem))
        }
        var (text, condition) = (whole, parent.map { WriteCondition.parent($0.revision) } ?? .create)
        for _ in 0..<4 {
            do {
                try await write(text, to: file, condition, member)
                return redirect(Self.url(of: path))
            } catch let error as APIError where error.status == 409 {
                guard let now = try await self.text(at: file, limit: Draft.limit) else { break }
                // The same text from two people.
                if now.text == whole { return redirect(Self.url(of: path)) }
                let merged =
                    parent == nil
                    ? nil
                    : TextMerge.merge(base: Array(base.utf8), mine: Array(whole.utf8), theirs: Array(now.text.utf8))
                guard let merged else {
                    let theirs = kind == .photo ? PhotoCaption(note: now.text).text : now.text
                    return try await item(
                        at: path, visit, member,
                        Draft(
                            text: mine, revision: now.revision,
                            problem:
                                "Somebody else saved this in the meantime, and your text is not saved yet. Copy what "
                                + "you want from theirs and save again.", theirs: theirs))
                }
                guard let theirs = JournalRevision(now.revision) else { break }
                (text, condition) = (String(decoding: merged, as: UTF8.self), .parent(theirs.revision))
            } catch let error as APIError {
                return try await item(
                    at: path, visit, member, Draft(text: mine, revision: revision, problem: error.message))
            }
        }
        let problem = "This keeps changing, and your text is not saved yet. Save it again."
        return try await item(at: path, visit, member, Draft(text: mine, revision: revision, problem: problem))
    }

    /// What a viewer is told who sends a form with a text.
    static var viewersChangeNothing: APIError { APIError(403, "Viewers cannot change anything.") }

    private static func caption(_ text: String, in note: String) -> String {
        var caption = PhotoCaption(note: note)
        caption.text = text
        return caption.note
    }

    /// What a form sends has lines that end as on the wire.
    static func lines(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars where scalar != "\r" { result.unicodeScalars.append(scalar) }
        return result
    }

    private func write(
        _ text: String, to path: RemotePath, _ condition: WriteCondition, _ member: Member
    ) async throws {
        guard let content = StagedContent(inline: Array(text.utf8)) else {
            throw APIError(413, "This is too long to save here.")
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
