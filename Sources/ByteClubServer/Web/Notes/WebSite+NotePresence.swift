import ByteClubCore
import HTTPTypes

extension WebSite {
    /// A member as pages show who edits a note.
    typealias Editor = (initial: String, name: String)

    /// Answers the heartbeat of a note's page: who else edits the note, and its newest version.
    ///
    /// The text is sent only when the page does not have it. A page with an open editor sends POST, any other one GET.
    func notePresence(_ visit: Visit, _ member: Member) async throws -> Response {
        guard let path = visit["path"].flatMap({ try? RemotePath($0) }), GalleryKind(path.name) == .note else {
            throw APIError(404, "This is not a note.")
        }
        let isBeat = visit.request.method == .post
        guard !isBeat || member.role >= .editor else { throw Self.viewersChangeNothing }
        let found = try await store.read { try $0.live(path) }
        let entry = found?.isFolder == true ? nil : found
        if isBeat {
            let now = settings.now()
            let isEditing = entry != nil && visit["editing"] == "1"
            editors.withPresence { presence in
                if isEditing {
                    presence.beat(member.uid, in: path.key, at: now)
                } else {
                    presence.leave(member.uid, path.key)
                }
            }
        }
        let names = try await editors(of: path, besides: member).map(\.name)
        var newer: (text: String, revision: String)?
        if let entry, JournalRevision(number: entry.revision).description != visit["rev"] {
            newer = try await text(at: path, limit: Draft.shownLimit)
        }
        var author: String?
        if let entry { author = try await store.name(ofMember: entry.author) }
        let revision = newer?.revision ?? entry.map { JournalRevision(number: $0.revision).description }
        let text = newer?.text
        var response = Response.object { object in
            object.key("editing")
            object.array { array in
                for name in names { array.value(name) }
            }
            object.member("rev", revision)
            object.member("author", author)
            object.member("text", text)
        }
        response.headers[.cacheControl] = "no-store"
        return response
    }

    /// The members who edit a note, besides one.
    func editors(of note: RemotePath, besides member: Member) async throws -> [Editor] {
        let now = settings.now()
        var members = editors.withPresence { $0.members(in: note.key, besides: member.uid, at: now) }
        if members.isEmpty { return [] }
        // A member may have been removed by another process.
        for case .member(let gone) in try await store.lapsed(Set(members.map { .member($0) })) {
            members.removeAll { $0 == gone }
            editors.withPresence { $0.forget(gone) }
        }
        var result: [Editor] = []
        for uid in members {
            guard let name = try await store.name(ofMember: uid) else { continue }
            result.append((name.first.map { $0.uppercased() } ?? "", name))
        }
        return result
    }
}
