import ByteClubCore

extension WebSite {
    /// The most notes that the list has.
    private static let mostNotes = 2000

    /// A note in the list.
    typealias ListedNote = (
        url: String, name: String, title: String, line: String, day: String, author: String?, isHere: Bool
    )
    /// The notes of a folder.
    typealias ListedFolder = (folder: String, notes: [ListedNote])

    /// All notes by their folders, the newest of each first.
    func noteList(_ visit: Visit, _ member: Member, at here: RemotePath? = nil) async throws -> [ListedFolder] {
        let store = store
        let items = try await visit.request.inTurn(of: shares.listings, for: .member(member.uid)) {
            try await store.notes(limit: Self.mostNotes)
        }
        var folders: [String: [ListedNote]] = [:]
        var authors: [Int64: String] = [:]
        for item in items {
            let entry = item.entry
            if authors[entry.author] == nil { authors[entry.author] = try await store.name(ofMember: entry.author) }
            let text = item.text.map { String(decoding: $0, as: UTF8.self) } ?? ""
            let preview = Markdown.preview(of: text, limit: 120)
            let line = preview.text.split(separator: "\n").first.map(String.init) ?? ""
            folders[Self.folderName(of: entry.path), default: []].append(
                (
                    Self.url(of: entry.path), entry.path.name, preview.title.isEmpty ? entry.path.name : preview.title,
                    line, Self.day(item.date), authors[entry.author], entry.path.key == here?.key
                ))
        }
        return folders.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// A folder's name in the list.
    static func folderName(of path: RemotePath) -> String {
        let folders = path.parent?.components ?? []
        return folders.isEmpty ? "Top folder" : folders.joined(separator: " / ")
    }

    /// Shows all notes; after a deletion with a button that undoes it.
    func notes(_ visit: Visit, _ member: Member) async throws -> Response {
        var deleted: (name: String, path: String, revision: String)?
        if member.role >= .editor, let path = visit["deleted"].flatMap({ try? RemotePath($0) }),
            let revision = visit["rev"].flatMap({ JournalRevision($0) })
        {
            // An address that somebody made up undoes nothing, and says nothing.
            let isGone = try await store.read { folder in
                let now = try folder.state.latest(path.key)
                let then = try folder.state.version(path.key, revision: revision.number)
                return now?.isDeleted == true && then?.isDeleted == false && then?.isFolder == false
            }
            if isGone { deleted = (path.name, path.string, revision.description) }
        }
        let folders = try await noteList(visit, member)
        let page = (
            folders: folders, isEmpty: folders.isEmpty, mayWrite: member.role >= .editor, deleted: deleted
        )
        return view(.notes, page, visit, policy: Self.picturePolicy)
    }
}
