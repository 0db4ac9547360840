import ByteClubCore

/// Which entries of the disk are part of the mirror.
struct ScanRules: Sendable, Equatable {
    /// Whether an entry is synced.
    enum Verdict: Hashable, Sendable {
        /// It is part of the tree.
        case included
        /// It is ignored by a rule or deselected.
        case excluded
        /// It cannot be synced; the line says why.
        case problem(String)
    }

    /// The rules of the mirror's ignore file.
    var ignored = IgnoreRules()
    /// The keys of the deselected folders.
    var deselected: Set<PathKey> = []

    /// Whether an entry or a folder above it is excluded; the key is relative to the mirror's root.
    func excludes(_ key: PathKey, isFolder: Bool) -> Bool {
        if ignored.excludes(key, isFolder: isFolder) { return true }
        return deselected.contains { key == $0 ? isFolder : key.isBelow($0) }
    }

    /// Classifies an entry by its path as a key; `depth` is the length in bytes of its folder's path on the server.
    func verdict(_ entry: DiskEntry, key: PathKey, depth: Int) -> Verdict {
        guard entry.isDecodable else { return .problem("the name is not UTF-8") }
        let isFolder = entry.kind == .folder
        if excludes(key, isFolder: isFolder) { return .excluded }
        if case .other(let what) = entry.kind { return .problem("\(what) is not synced") }
        do {
            let checked = try RemotePath.root.appending(entry.name)
            if depth + checked.string.utf8.count > NameRules.maximumPathBytes {
                return .problem("the path is longer than \(NameRules.maximumPathBytes) bytes")
            }
        } catch {
            return .problem(error.message)
        }
        return .included
    }
}
