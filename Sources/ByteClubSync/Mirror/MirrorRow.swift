import ByteClubCore

/// An entry as it was last observed on disk.
struct LocalEntry: Hashable, Sendable {
    /// The name as the disk has it, in its own case and composition.
    var name: String
    var isFolder: Bool
    /// The content's hash; nil for folders and as long as nobody needed it.
    var hash: ContentHash?
    /// How the file looked when it was observed; nil for folders.
    var fingerprint: Fingerprint?
    /// Whether a write right after the hash was taken could have gone unseen.
    var isRacy = false

    var size: Int64 { fingerprint?.size ?? 0 }
}

/// An entry as the server last told it.
struct RemoteEntry: Hashable, Sendable {
    var name: String
    var isFolder: Bool
    /// The content's hash; nil for folders and when the server does not tell.
    var hash: ContentHash?
    var size: Int64
    var revision: Revision?
    /// In which full listing of the server it was seen last.
    var generation: Int64 = 0
}

/// The state in which both sides were last seen equal.
struct SyncedEntry: Hashable, Sendable {
    var isFolder: Bool
    var hash: ContentHash?
    var size: Int64
    var revision: Revision?
}

/// All that is known of one place of the mirror: a row of each of the three trees.
struct MirrorRow: Hashable, Sendable {
    let key: PathKey
    var local: LocalEntry?
    var remote: RemoteEntry?
    var synced: SyncedEntry?
    /// Whether the ignore rules keep it out; then only the server's entry is known.
    var isExcluded = false
    /// Whether a folder that is gone on the other side stays for the sake of what is in it and not synced.
    var isKept = false
    /// Whether the server's entry is missing only since a listing from the start, not by a told deletion.
    var isSwept = false

    init(_ key: PathKey) { self.key = key }

    /// Whether nothing is known any more, so that the row can go.
    var isEmpty: Bool { local == nil && remote == nil && synced == nil }

    /// Whether this folder is only there, on one side, for what is in it and not synced.
    var isOnlyKept: Bool { isKept && synced == nil && (local == nil) != (remote == nil) }

    /// Whether there is nothing to decide here.
    var isSettled: Bool {
        if isExcluded || isEmpty || isOnlyKept { return true }
        guard let local, let remote, let synced else { return false }
        guard local.isFolder == synced.isFolder, remote.isFolder == synced.isFolder,
            remote.revision == synced.revision
        else { return false }
        if synced.isFolder { return true }
        return local.hash == synced.hash && (remote.hash == nil || remote.hash == synced.hash)
    }
}

extension PathKey {
    /// The last component; empty for the root.
    var name: String {
        guard let slash = string.utf8.lastIndex(of: UInt8(ascii: "/")) else { return string }
        return String(string[string.utf8.index(after: slash)...])
    }

    /// The key of an entry of this folder, by the entry's folded name.
    func child(folded name: String) -> PathKey {
        PathKey(folded: self == .root ? "/" + name : string + "/" + name)
    }

    /// The key itself and all folders above it, the root left out, from the entry upwards.
    var selfAndAncestors: [PathKey] {
        var result: [PathKey] = []
        var next: PathKey? = self
        while let key = next, key != .root {
            result.append(key)
            next = key.parent
        }
        return result
    }
}
