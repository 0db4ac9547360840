import ByteClubCore

/// Which entries of the disk are part of the mirror.
struct ScanRules: Sendable, Equatable {
    /// What is to become of an entry.
    enum Verdict: Hashable, Sendable {
        /// It is part of the tree.
        case included
        /// It is left out by a rule or by choice: there is nothing to say about it.
        case excluded
        /// It cannot be synced; the line says why.
        case problem(String)
    }

    /// What the mirror's ignore file leaves out.
    var ignored = IgnoreRules()
    /// The keys of the folders that are left out by choice.
    var deselected: Set<PathKey> = []

    /// Whether an entry is left out, or a folder above it; the key is relative to the mirror's root.
    func excludes(_ key: PathKey, isFolder: Bool) -> Bool {
        if ignored.excludes(key, isFolder: isFolder) { return true }
        return deselected.contains { key == $0 ? isFolder : key.isBelow($0) }
    }

    /// Judges an entry by its path as a key; `depth` is how many bytes the path of its folder has on the server.
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
