import ByteClubCore

/// Links of notes to other files of the club.
enum NoteTargets {
    /// The file that a link in a note leads to; nil for one that is outside of the club's folder.
    ///
    /// A link is relative to the note's folder, or to the top with a slash in front.
    static func path(of target: String, in note: RemotePath) -> RemotePath? {
        Markdown.path(of: target, in: note)
    }
}

extension WebSite {
    /// The most links of one note that are looked up.
    private static let mostTargets = 200
    /// The most photos of a note that are looked into while its page is waited for.
    private static let mostLookedInto = 8

    /// The links and photos of a note that lead to live notes and photos of the club.
    func targets(
        of note: Markdown, at path: RemotePath, _ visit: Visit, _ member: Member
    ) async throws -> [String: NoteHTML.Target] {
        var paths: [String: RemotePath] = [:]
        for target in note.relativeTargets.prefix(Self.mostTargets) {
            paths[target] = NoteTargets.path(of: target, in: path)
        }
        let wanted = paths.filter { GalleryKind($0.value.name) != nil }
        if wanted.isEmpty { return [:] }
        let entries = try await store.read { folder in
            wanted.compactMapValues { try? folder.file($0, revision: nil) }
        }
        let photos = entries.values.filter { GalleryKind($0.path.name) == .photo }
        var known = try await store.mediaInfo(of: photos.compactMap(\.contentHash))
        let unread = photos.filter { $0.contentHash.map { known[$0] == nil } ?? false }.prefix(Self.mostLookedInto)
        if !unread.isEmpty {
            _ = try await describe(Array(unread), visit, member)
            known = try await store.mediaInfo(of: photos.compactMap(\.contentHash))
        }
        let captions = try await store.captions(of: photos.map(\.path.key))
        return entries.compactMapValues { entry in
            guard GalleryKind(entry.path.name) == .photo else { return .page(Self.url(of: entry.path)) }
            guard let hash = entry.contentHash else { return nil }
            let caption = PhotoCaption(note: captions[entry.path.key].map { String(decoding: $0, as: UTF8.self) } ?? "")
            var photo = PhotoTile(
                known[hash]?.shape, view: caption.view, base: "/photos/\(hash)/", upTo: 1024, orWhenWide: 2048)
            photo.url = Self.url(of: entry.path)
            photo.alt = caption.text.isEmpty ? entry.path.name : String(caption.text.prefix(300))
            if !caption.text.isEmpty { photo.caption = String(caption.text.prefix(300)) }
            return .photo(photo)
        }
    }

    /// A note as the pages of members show it: its title, and the text behind it as HTML.
    func shown(
        _ text: String, at path: RemotePath, _ visit: Visit, _ member: Member
    ) async throws -> (title: String?, html: String, hasTasks: Bool) {
        var note = Markdown(text)
        let targets = try await targets(of: note, at: path, visit, member)
        let title = note.title.map { NoteHTML.text($0) }
        if title != nil { note.blocks.removeFirst() }
        let form = member.role >= .editor ? "tasks" : nil
        let html = NoteHTML(note, form: form) { targets[$0] }.html
        return (title, html, html.contains("<button class=\"box\""))
    }
}
