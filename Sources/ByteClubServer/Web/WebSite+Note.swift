import ByteClubCore

extension WebSite {
    /// Shows the page of a note beside the list of all, with a text that is not saved in its form.
    func note(
        _ path: RemotePath, _ visit: Visit, _ member: Member, _ draft: Draft?, link: MadeLink? = nil
    ) async throws -> Response {
        let entry = try await store.read { try $0.file(path, revision: nil) }
        let note = try await text(at: path, limit: Draft.shownLimit)
        if draft != nil, note.map({ $0.text.utf8.count > Draft.limit }) ?? true {
            throw APIError(409, "'\(path)' has changed, and is too long to edit here or not text.")
        }
        var form = draft
        if form == nil, let note, note.text.utf8.count <= Draft.limit {
            form = Draft(text: note.text, revision: note.revision)
        }
        let isPreview = draft?.isPreview ?? false
        let text = isPreview ? draft?.text : note?.text
        var shown: (title: String?, html: String, hasTasks: Bool)?
        if let text { shown = try await self.shown(text, at: entry.path, visit, member) }
        let mayWrite = member.role >= .editor
        let revision = JournalRevision(number: entry.revision).description
        let url = Self.url(of: entry.path)
        let page = (
            name: entry.path.name, headingHTML: shown?.title, folder: Self.folderName(of: entry.path),
            changed: Moment(entry.modified), author: try await store.name(ofMember: entry.author),
            html: shown?.html, isUnreadable: note == nil, action: Self.url(of: path), path: entry.path.string,
            entryRevision: revision, history: "/notes/history" + url.dropFirst("/gallery".count),
            editors: try await editors(of: entry.path, besides: member),
            form: mayWrite ? form : nil, mayWrite: mayWrite, isNew: false, isPreview: isPreview,
            hasTasks: mayWrite && !isPreview && shown?.hasTasks == true, cancel: url,
            folders: try await noteList(visit, member, at: entry.path),
            sharing: mayWrite
                ? ShareMenu(
                    what: "note", action: "/share" + Self.components(of: entry.path), made: link,
                    isOpen: link != nil || visit["share"] != nil)
                : nil
        )
        let status = draft.map { $0.theirs != nil ? 409 : $0.isPreview ? 200 : 400 } ?? 200
        return view(.note, page, visit, status, policy: Self.picturePolicy)
    }
}
