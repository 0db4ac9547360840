import ByteClubCore

extension WebSite {
    /// The most versions that a page lists.
    private static let mostVersions = 200

    private typealias Line = (kind: String, mark: String, text: String)
    private typealias Version = (
        url: String, moment: Moment, author: String?, what: String, isShown: Bool, isNewest: Bool
    )

    /// Shows the versions of a note, and what one of them has changed.
    func noteHistory(_ visit: Visit, _ member: Member) async throws -> Response {
        let path = try Self.path(of: visit)
        guard GalleryKind(path.name) == .note else { throw APIError(404, "'\(path)' is not a note.") }
        let versions = try await store.read { folder in
            try folder.state.versions(path.key, before: nil, limit: Self.mostVersions).filter { !$0.isFolder }
        }
        guard let newest = versions.first else { throw APIError.notFound(path) }
        let wanted = visit["rev"].flatMap { JournalRevision($0)?.number } ?? newest.revision
        guard let index = versions.firstIndex(where: { $0.revision == wanted }) else {
            throw APIError(404, "The note has no such version.")
        }
        let chosen = versions[index]
        let before = versions.dropFirst(index + 1).first
        let new = try await noteText(chosen, path)
        let old = if let before { try await noteText(before, path) ?? "" } else { "" }
        var rows: [Version] = []
        for (place, version) in versions.enumerated() {
            let earlier = versions.dropFirst(place + 1).first
            rows.append(
                (
                    "/notes/history" + Self.url(of: path).dropFirst("/gallery".count)
                        + "?rev=\(JournalRevision(number: version.revision))",
                    Moment(version.modified), try await store.name(ofMember: version.author),
                    Self.what(version, after: earlier), place == index, place == 0
                ))
        }
        let page = (
            name: newest.path.name, path: path.string, url: newest.isDeleted ? nil : Self.url(of: path),
            versions: rows, lines: new.flatMap { Self.lines(from: old, to: $0) },
            moment: Moment(chosen.modified), author: try await store.name(ofMember: chosen.author),
            what: Self.what(chosen, after: before),
            revision: JournalRevision(number: chosen.revision).description,
            mayRestore: member.role >= .editor && !chosen.isDeleted && index > 0
        )
        return view(.noteHistory, page, visit, policy: Self.picturePolicy)
    }

    private static func what(_ version: FolderEntry, after earlier: FolderEntry?) -> String {
        if version.isDeleted { return "Deleted or moved" }
        guard let earlier else { return "Written" }
        if earlier.isDeleted { return "Restored" }
        return earlier.contentHash == version.contentHash ? "Moved" : "Changed"
    }

    /// The text of a version, empty for a deletion; nil when it is too long or not text.
    private func noteText(_ version: FolderEntry, _ path: RemotePath) async throws -> String? {
        if version.isDeleted { return "" }
        return try await text(
            at: path, revision: JournalRevision(number: version.revision), limit: Draft.shownLimit)?.text
    }

    /// The lines that changed, with those around them; nil when the texts differ in too many ways.
    private static func lines(from old: String, to new: String) -> [Line]? {
        guard let text = UnifiedDiff.text(from: Array(old.utf8), named: "", to: Array(new.utf8), named: "") else {
            return nil
        }
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(2).compactMap { line in
            let rest = String(line.dropFirst())
            return switch line.first {
            case "+": ("added", "+", rest)
            case "-": ("removed", "\u{2212}", rest)
            case " ": ("same", "", rest)
            case "@": ("gap", "", "⋯")
            default: nil
            }
        }
    }
}
