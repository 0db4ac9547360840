public import ByteClubCore

extension SharedFolder {
    /// Looks through all names and texts below a folder, one after the other; for folders in memory.
    ///
    /// - Parameters:
    ///   - path: The folder.
    ///   - query: The query.
    ///   - includeDeleted: Whether deleted entries that are the last at their paths are found as well.
    ///   - limit: The most entries.
    ///   - content: Returns the bytes of a file's version; nil when they are not stored.
    /// - Returns: The matching entries.
    /// - Throws: ``APIError`` 404 when the folder does not exist.
    public func searchTexts(
        _ path: RemotePath, query: TextQuery, includeDeleted: Bool, limit: Int,
        content: (FolderEntry) throws -> [UInt8]?
    ) throws -> TextSearchResults {
        guard let folder = try live(path) else { throw APIError.notFound(path) }
        let all = try state.changes(after: 0, prefix: folder.path.key, includeDeleted: includeDeleted, limit: .max)
        var found: [(entry: FolderEntry, isName: Bool, text: String?)] = []
        for entry in all where entry.path.key != folder.path.key {
            // What a move leaves behind is not deleted.
            if entry.isDeleted, try state.current(entry.node)?.revision != entry.revision { continue }
            let name = FoldedText(entry.path.name)
            let isName = query.matches(name: name)
            let version = entry.isDeleted ? try state.versions(entry.path.key, limit: 2).last : entry
            let text = try version.flatMap { $0.isFolder ? nil : try content($0) }.flatMap { FoldedText.text($0) }
            guard isName || text.map({ query.matches(name: name, text: FoldedText($0)) }) == true else { continue }
            found.append((entry, isName, text))
        }
        found.sort { ($0.isName ? 1 : 0, $0.entry.change) > ($1.isName ? 1 : 0, $1.entry.change) }
        let entries = try found.prefix(limit).map { match in
            var metadata = try describe(match.entry)
            metadata.snippet = match.text.flatMap { TextSnippet(of: $0, query) }
            return metadata
        }
        return TextSearchResults(entries, isComplete: true)
    }
}
