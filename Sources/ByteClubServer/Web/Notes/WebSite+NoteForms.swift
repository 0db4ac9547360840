import ByteClubCore
import HTTPTypes

/// The forms that change notes, each of which works without a script.
extension WebSite {
    /// The folder of new notes, as for files that are added (``place(of:in:)``).
    private static let folder = "/byteclub"

    /// Shows the form for a new note.
    func newNoteForm(_ visit: Visit, _ member: Member) async throws -> Response {
        try await newNote(visit, member, name: visit["name"] ?? "", Draft(text: "", revision: ""))
    }

    /// Shows the form for a new note with a text.
    func newNote(_ visit: Visit, _ member: Member, name: String, _ draft: Draft) async throws -> Response {
        guard member.role >= .editor else { throw Self.viewersChangeNothing }
        let path = (try? Self.place(of: Self.noteName(name))) ?? .root
        let preview = draft.isPreview ? try await shown(draft.text, at: path, visit, member) : nil
        let page = (
            form: draft, isNew: true, name: name, path: path.string, action: "/notes/new",
            headingHTML: preview?.title, html: preview?.html ?? "", isPreview: draft.isPreview,
            folders: try await noteList(visit, member), mayWrite: true, cancel: "/notes"
        )
        return view(.newNote, page, visit, draft.problem == nil ? 200 : 400, policy: Self.picturePolicy)
    }

    /// Stores a new note under a free name.
    func addNote(_ visit: Visit, _ member: Member) async throws -> Response {
        guard member.role >= .editor else { throw Self.viewersChangeNothing }
        let text = Self.lines(visit["text"] ?? "")
        let name = visit["name"] ?? ""
        func unsaved(_ problem: String) async throws -> Response {
            try await newNote(visit, member, name: name, Draft(text: text, revision: "", problem: problem))
        }
        guard text.utf8.count <= Draft.limit else {
            return try await unsaved("This is longer than \(Draft.limit) bytes and was not saved.")
        }
        // A name alone is a note with a heading.
        let whole = text.allSatisfy(\.isWhitespace) ? "# \(Self.bare(name))\n" : text
        let title = Markdown.preview(of: text, limit: 1).title
        do {
            let named = Self.bare(name).isEmpty ? String(title.prefix(80)) : name
            guard !Self.bare(named).isEmpty else { return try await unsaved("A note needs a name.") }
            let path = try Self.place(of: Self.noteName(named))
            guard let content = StagedContent(inline: Array(whole.utf8)) else {
                throw APIError(413, "This is too long.")
            }
            return redirect(Self.url(of: try await put(content, at: path, by: member).path))
        } catch let error as APIError {
            return try await unsaved(error.message)
        } catch let error as StorageError {
            return try await unsaved(ServerFault.refusal(for: error).message)
        }
    }

    private static func bare(_ name: String) -> String {
        String(name.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    /// The name of a note's file, from what somebody typed: a Markdown file, unless it is another kind of note.
    static func noteName(_ name: String) -> String {
        // Slashes and backslashes separate folders on some machine or other.
        let name = bare(String(name.map { "/\\".contains($0) ? "-" : $0 }))
        return GalleryKind(name) == .note ? name : name + ".md"
    }

    /// Shows a text as it will look: as a page with the form, or as HTML for a script.
    func previewNote(_ visit: Visit, _ member: Member) async throws -> Response {
        guard member.role >= .editor else { throw Self.viewersChangeNothing }
        let text = Self.lines(visit["text"] ?? "")
        guard text.utf8.count <= Draft.shownLimit else { throw APIError(413, "This is too long to show here.") }
        let path = visit["path"].flatMap { try? RemotePath($0) } ?? .root
        if visit.request.headers[values: .accept].contains("application/json") {
            let note = try await shown(text, at: path, visit, member)
            let html = (note.title.map { "<h1>\($0)</h1>\n" } ?? "") + note.html
            return .object { $0.member("html", html) }
        }
        var draft = Draft(text: text, revision: visit["parent_rev"] ?? "")
        draft.isPreview = true
        if visit["name"] != nil { return try await newNote(visit, member, name: visit["name"] ?? "", draft) }
        return try await item(at: path, visit, member, draft)
    }

    /// Turns over the mark of a task in a note, and merges that with what others have changed.
    func tickTask(_ visit: Visit, _ member: Member) async throws -> Response {
        let (path, revision) = try notePlace(visit, member)
        guard let line = visit["line"].flatMap({ Int($0) }) else { throw APIError(400, "This form is malformed.") }
        let changed = APIError(409, "The note has changed in the meantime. Go back, reload, and tick it again.")
        guard let base = try await text(at: path, revision: revision, limit: Draft.shownLimit)?.text,
            let mine = Markdown.toggled(line: line, of: base)
        else { throw changed }
        guard case .saved = try await merge(mine, on: (revision, base), into: path, by: member) else { throw changed }
        if visit.request.headers[values: .accept].contains("application/json") {
            let now = try await text(at: path, limit: Draft.shownLimit)
            return .object { $0.member("rev", now?.revision) }
        }
        return redirect(Self.url(of: path) + "#task-\(line)")
    }

    /// Gives a note another name or folder.
    func moveNote(_ visit: Visit, _ member: Member) async throws -> Response {
        let (path, _) = try notePlace(visit, member)
        let wanted = Self.bare(visit["to"] ?? "")
        let target: RemotePath
        do {
            // A name alone stays in the folder.
            let whole = wanted.contains("/") ? wanted : (path.parent ?? .root).string + "/" + wanted
            target = try RemotePath(GalleryKind(whole) == .note ? whole : whole + ".md")
        } catch {
            throw APIError(400, "'\(wanted)' is not a valid name: \(error.message)")
        }
        if wanted.isEmpty { throw APIError(400, "A note needs a name.") }
        if target != path { try await change(by: member) { _ = try $0.move(path, to: target) } }
        return redirect(Self.url(of: target))
    }

    /// Deletes a note in the version that the page showed; the next page undoes it.
    func deleteNote(_ visit: Visit, _ member: Member) async throws -> Response {
        let (path, revision) = try notePlace(visit, member)
        try await change(by: member) { _ = try $0.delete(path, seen: revision) }
        return redirect("/notes?deleted=\(PercentEncoding.encode(path.string))&rev=\(revision)")
    }

    /// Makes an older version of a note the newest, also after its deletion.
    func restoreNote(_ visit: Visit, _ member: Member) async throws -> Response {
        let (path, revision) = try notePlace(visit, member)
        try await change(by: member) { _ = try $0.restore(path, to: revision) }
        return redirect(Self.url(of: path))
    }

    /// The note and its version that a form is about.
    ///
    /// - Throws: ``APIError`` 403 for viewers, 404 for what is no note, 400 for another malformed form.
    private func notePlace(_ visit: Visit, _ member: Member) throws -> (path: RemotePath, revision: JournalRevision) {
        guard member.role >= .editor else { throw Self.viewersChangeNothing }
        guard let path = visit["path"].flatMap({ try? RemotePath($0) }), GalleryKind(path.name) == .note else {
            throw APIError(404, "This is not a note.")
        }
        guard let revision = visit["rev"].flatMap({ JournalRevision($0) }) else {
            throw APIError(400, "This form is malformed.")
        }
        return (path, revision)
    }
}
