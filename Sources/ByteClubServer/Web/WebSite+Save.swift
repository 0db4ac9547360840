import ByteClubCore
import HTTPTypes

extension WebSite {
    /// Saves a note or a photo's caption against the version that it is based on.
    ///
    /// A version that another member has saved in the meantime is merged where the changes do not overlap; otherwise
    /// nothing is saved, and the page shows both texts.
    func save(_ visit: Visit, _ member: Member) async throws -> Response {
        guard member.role >= .editor else { throw Self.viewersChangeNothing }
        let path = try Self.path(of: visit)
        guard let kind = GalleryKind(path.name) else { throw APIError(404, "'\(path)' is not a note.") }
        let mine = Self.lines(visit["text"] ?? "")
        let revision = visit["parent_rev"] ?? ""
        func unsaved(_ problem: String, of newer: String? = nil, theirs: String? = nil) async throws -> Response {
            try await item(
                at: path, visit, member,
                Draft(text: mine, revision: newer ?? revision, problem: problem, theirs: theirs))
        }
        guard mine.utf8.count <= Draft.limit else {
            return try await unsaved("This is longer than \(Draft.limit) bytes and was not saved.")
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
            return try await unsaved("An empty note cannot be saved.")
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
                    return try await unsaved(
                        "Somebody else saved this in the meantime, and your text is not saved yet. Copy what you want "
                            + "from theirs and save again.", of: now.revision, theirs: theirs)
                }
                guard let theirs = JournalRevision(now.revision) else { break }
                (text, condition) = (String(decoding: merged, as: UTF8.self), .parent(theirs.revision))
            } catch let error as APIError {
                return try await unsaved(error.message)
            }
        }
        return try await unsaved("This keeps changing, and your text is not saved yet. Save it again.")
    }

    /// The refusal of a viewer's text.
    static var viewersChangeNothing: APIError { APIError(403, "Viewers cannot change anything.") }

    private static func caption(_ text: String, in note: String) -> String {
        var caption = PhotoCaption(note: note)
        caption.text = text
        return caption.note
    }

    /// The text of a form with the line ends of the wire.
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
            _ = try await store.write(by: member.uid, storing: [content]) { folder in
                try folder.put(path, bytes: bytes, hash: hash, condition: condition, policy: .fail)
            }
        } catch let error as StorageError {
            throw ServerFault.refusal(for: error)
        }
    }
}

/// An unsaved text from a form, and the version that it is based on.
struct Draft {
    /// The longest text that is edited on a page, in bytes; a form has room for it however it is encoded.
    static let limit = 20_000

    /// The text in the form.
    var text: String
    /// The version that it was made of; empty when there was none.
    var revision: String
    /// Why it is not saved; nil where it was not sent yet.
    var problem: String?
    /// The text that another member has saved in the meantime.
    var theirs: String?
}

extension Visit {
    /// The text in the form of a note or a caption; nil for other requests.
    var typedText: String? {
        guard request.method == .post, ["/gallery", "/login"].contains(request.endpoint.name) else { return nil }
        return self["text"]
    }
}

extension WebSite {
    /// The text in a form of this site; nil for other requests, and for one that another site may have made.
    func ownText(_ visit: Visit) -> String? {
        guard isForm(visit.request, visit, token: visit["csrf"]) || visit.request.isFromOwnPage else { return nil }
        return visit.typedText
    }

    /// The sign-in page after a session ended while the member wrote, with the text; nil for other requests, and for
    /// one that another site may have made.
    func signInKeepingText(_ visit: Visit) -> Response? {
        guard visit.member == nil, visit.request.endpoint.name == "/gallery", ownText(visit) != nil else { return nil }
        return signInForm(
            visit, next: "/" + visit.request.rawPath.drop { $0 == "/" },
            problem: "You are signed out, and your text is not saved yet. Sign in to save it.")
    }

    /// The form again, with the text from before the sign-in; nil when there is none.
    ///
    /// - Throws: As ``item(at:_:_:_:)``.
    func formAfterSignIn(_ visit: Visit, _ member: Member, at page: String) async throws -> Response? {
        guard let text = visit.typedText, page.hasPrefix("/gallery/"),
            let path = PercentEncoding.decode(page.dropFirst("/gallery".utf8.count), plusIsBlank: false)
                .flatMap({ try? RemotePath($0) })
        else { return nil }
        return try await item(
            at: path, visit, member,
            Draft(
                text: Self.lines(text), revision: visit["parent_rev"] ?? "",
                problem: "You are signed in again. This is not saved yet: save it now."))
    }
}
