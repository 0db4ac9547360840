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
        let known: (text: String, revision: String)? =
            if let parent { try await text(at: file, revision: parent, limit: Draft.limit) } else { nil }
        // What a caption's note has besides the text, as spots, is kept: so it has to be known.
        if kind == .photo, parent != nil, known == nil {
            return try await unsaved("The note '\(file.name)' is too long to change here, or not text.")
        }
        let base = known?.text ?? ""
        let whole = kind == .photo ? Self.caption(mine, in: base) : mine
        if whole.isEmpty, kind == .note || parent == nil {
            if kind == .photo { return redirect(Self.url(of: path)) }
            return try await unsaved("An empty note cannot be saved.")
        }
        do {
            switch try await merge(whole, on: parent.map { ($0, base) }, into: file, by: member) {
            case .saved: return redirect(Self.url(of: path))
            case .conflict(let text, let newer):
                let theirs = kind == .photo ? PhotoCaption(note: text).text : text
                return try await unsaved(
                    "Somebody else saved this in the meantime, and your text is not saved yet. Copy what you want "
                        + "from theirs and save again.", of: newer, theirs: theirs)
            case .changing:
                return try await unsaved("This keeps changing, and your text is not saved yet. Save it again.")
            }
        } catch let error as APIError {
            return try await unsaved(error.message)
        }
    }

    /// What came of a text that was to be saved.
    enum SaveOutcome {
        /// It is saved, merged with what others have saved where there was something.
        case saved
        /// Others have changed the same lines: their text with its version.
        case conflict(String, revision: String)
        /// It changed again with each attempt, or is no text any more.
        case changing
    }

    /// Saves a text on the version that it is based on, or as a new file, and merges it where others were quicker.
    ///
    /// - Throws: ``APIError`` for what the folder refuses.
    func merge(
        _ whole: String, on base: (revision: JournalRevision, text: String)?, into file: RemotePath, by member: Member
    ) async throws -> SaveOutcome {
        var outcome = SaveOutcome.changing
        let condition = base.map { WriteCondition.parent($0.revision.revision) } ?? .create
        let isSaved = try await write((whole, condition), to: file, member) {
            guard let now = try await self.text(at: file, limit: Draft.shownLimit),
                let theirs = JournalRevision(now.revision)
            else { return nil }
            // The same text from two people.
            if now.text == whole {
                outcome = .saved
                return nil
            }
            let merged = base.flatMap {
                TextMerge.merge(base: Array($0.text.utf8), mine: Array(whole.utf8), theirs: Array(now.text.utf8))
            }
            if merged == nil { outcome = .conflict(now.text, revision: now.revision) }
            return merged.map { (String(decoding: $0, as: UTF8.self), .parent(theirs.revision)) }
        }
        return isSaved ? .saved : outcome
    }

    /// A text, and the version that it is written on; nil deletes that version.
    typealias Attempt = (text: String?, condition: WriteCondition)

    /// Writes a text, and what is made of the present one for as long as others are quicker.
    ///
    /// `again` makes the next text, or gives up.
    ///
    /// - Returns: Whether something was written.
    /// - Throws: ``APIError`` for what the folder refuses.
    func write(
        _ first: Attempt, to file: RemotePath, _ member: Member, again: () async throws -> Attempt?
    ) async throws -> Bool {
        var attempt = first
        for _ in 0..<4 {
            do {
                if let text = attempt.text {
                    try await write(text, to: file, attempt.condition, member)
                } else if case .parent(let revision) = attempt.condition {
                    let seen = JournalRevision(revision)
                    try await change(by: member) { _ = try $0.delete(file, seen: seen) }
                }
                return true
            } catch let error as APIError where error.status == 409 {
                guard let next = try await again() else { return false }
                attempt = next
            }
        }
        return false
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

    /// Changes the folder as the member, without new contents.
    ///
    /// - Throws: ``APIError`` for what the folder refuses.
    func change(
        by member: Member, _ body: @escaping @Sendable (inout SharedFolder) throws -> Void
    ) async throws {
        do {
            try await store.write(by: member.uid, storing: [], body)
        } catch let error as StorageError {
            throw ServerFault.refusal(for: error)
        }
    }

    /// Stores a text as the member's, if the condition holds.
    func write(
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
    /// The longest text that is shown, in bytes.
    static let shownLimit = 64 << 10

    /// The text in the form.
    var text: String
    /// The version that it was made of; empty when there was none.
    var revision: String
    /// Why it is not saved; nil where it was not sent yet.
    var problem: String?
    /// The text that another member has saved in the meantime.
    var theirs: String?
    /// Whether the page shows the text as it will look, and not what is saved.
    var isPreview = false
}

extension Visit {
    /// The text in the form of a note or a caption; nil for other requests.
    var typedText: String? {
        guard request.method == .post,
            ["/gallery", "/notes/new", "/notes/preview", "/login"].contains(request.endpoint.name)
        else { return nil }
        return self["text"]
    }
}

extension WebSite {
    /// The text in a form of this site; nil for other requests, and for one that another site may have made.
    func ownText(_ visit: Visit) -> String? {
        guard isForm(visit.request, visit, token: visit["csrf"]) || visit.request.isFromOwnPage else { return nil }
        return visit.typedText
    }

    /// The sign-in page after a session ended while the member wrote, with the text; of a new note, which has no
    /// address yet, a page with the text alone; nil for other requests, and for one that another site may have made.
    func signInKeepingText(_ visit: Visit) -> Response? {
        guard visit.member == nil, let text = ownText(visit) else { return nil }
        if ["/notes/new", "/notes/preview"].contains(visit.request.endpoint.name) {
            return refusal(APIError(403, "You are signed out. Sign in to save it."), visit, text: text)
        }
        guard visit.request.endpoint.name == "/gallery" else { return nil }
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
