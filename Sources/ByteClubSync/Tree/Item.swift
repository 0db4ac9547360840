import ByteClubCore
import Crypto

/// An entry as it was last observed on disk.
struct LocalState: Hashable, Sendable {
    var location: Location
    var isFolder: Bool
    /// The content's hash; nil for folders, and for files that were not read since they changed.
    var hash: ContentHash?
    var size: Int64 = 0
    /// The entry's stat when it was observed.
    var stat: FileStat?
    /// Whether a folder that is deleted on the server stays only because of unsynced entries in it.
    var isLeftover = false
}

extension LocalState {
    /// When the file was last written, from its stat; nil for a date that is left out elsewhere.
    var modified: FileTime? { stat?.fingerprint.time }
}

/// The result of a stat of an entry: identity, size and times.
struct FileStat: Hashable, Sendable {
    /// The file's identity, which is unique although inode numbers are reused.
    var handle: FileHandle
    var fingerprint: FileFingerprint
    /// Whether a write right after the stat could go unnoticed (git: racily clean).
    var isRacy = false
    /// Whether its owner may execute the file; nil for folders, and where the file system cannot say.
    var isExecutable: Bool?
}

/// An entry as the server last reported it.
struct RemoteState: Hashable, Sendable {
    /// The server's identity of it; nil without the extension.
    var node: EntryID?
    var location: Location
    var isFolder: Bool
    /// The content's hash; nil for folders and when the server sends none.
    var hash: ContentHash?
    var size: Int64 = 0
    /// The content's revision, without identities the path's; nil when the server sends none.
    var revision: Revision?
    /// The journal's number of the location's revision; 0 without identities.
    var placeRevision: Int64 = 0
    /// The number of the full pass in which it was last seen.
    var generation: Int64 = 0
    /// Whether nothing can be decided about it before it is verified with the server.
    var isUnverified = false
    /// When the content was made; nil when the server does not report it.
    var modified: FileTime?
    /// Whether the file may be executed; nil when the server does not report it.
    var isExecutable: Bool?
}

/// The state in which both sides were last seen equal.
struct SyncedState: Hashable, Sendable {
    /// The location, with the disk's spelling of the name.
    var location: Location
    /// The name as the server had it, when that differs in letter case or composition from the disk's.
    var remoteName: EntryName?
    var isFolder: Bool
    var hash: ContentHash?
    var size: Int64 = 0
    /// The content's revision on the server; nil when it sends none.
    var revision: Revision?
    /// Whether the file was executable on both sides; nil while they have never been known to agree.
    var isExecutable: Bool?
}

/// The known states of one entry: of each side now, and of both when they were last equal.
struct Item: Hashable, Sendable {
    let id: ItemID
    var local: LocalState?
    var remote: RemoteState?
    private(set) var synced: SyncedState?
    /// Its last identity on the server, kept after a deletion, so that it can be undeleted.
    var lastNode: EntryID?
    /// Whether the ignore rules or the selection exclude it: nothing is decided here or below.
    var isExcluded = false
    /// Whether it is outside of the mirrored folder; then it is excluded, too.
    var isOutside = false
    /// The hash that was sent last and not answered yet: when the server shows it, it is our own write (invariant I10).
    var sent: ContentHash?
    /// Whether it cannot be read, named or scanned now: nothing is decided here or below until it can.
    var isFrozen = false

    init(_ id: ItemID, local: LocalState? = nil, remote: RemoteState? = nil, synced: SyncedState? = nil) {
        self.id = id
        self.local = local
        self.remote = remote
        self.synced = synced
    }

    /// Sets the merge base: for ``TreeEditor`` alone (invariant I4).
    mutating func setBase(_ base: SyncedState?) { synced = base }

    /// The item with the stat that its file has while it is sent.
    func observed(with stat: FileStat?) -> Item {
        var item = self
        item.local?.stat = stat
        return item
    }

    /// Whether it is a folder, on whichever side it is; an item never changes its kind.
    var isFolder: Bool { local?.isFolder ?? remote?.isFolder ?? synced?.isFolder ?? false }

    /// Whether all three states are nil, so that it can be removed.
    var isEmpty: Bool { local == nil && remote == nil && synced == nil }

    /// Whether the disk's location differs from the merge base's.
    var isMovedLocally: Bool {
        guard let local, let synced else { return false }
        return local.location != synced.location
    }

    /// Whether the server's location differs from the merge base's.
    var isMovedRemotely: Bool {
        guard let remote, let synced else { return false }
        return remote.location != Location(synced.location.parent, synced.remoteName ?? synced.location.name)
    }

    /// Whether the disk's content differs from the merge base's; also true when it is unknown.
    var isEditedLocally: Bool {
        guard let local, let synced, !local.isFolder else { return false }
        return local.hash == nil || local.hash != synced.hash
    }

    /// Whether the server's content differs from the merge base's.
    var isEditedRemotely: Bool {
        guard let remote, let synced, !remote.isFolder else { return false }
        if let hash = remote.hash { return hash != synced.hash }
        return remote.revision != synced.revision
    }

    /// Whether one side has an executable file and the other one that is not.
    var differsInExecutable: Bool {
        guard let mine = local?.stat?.isExecutable, let theirs = remote?.isExecutable else { return false }
        return mine != theirs
    }

    /// Whether the file is to be executable on both sides: the value of the side that changed it, the server's when that is
    /// unknown; nil when neither side has a value.
    var wantedExecutable: Bool? {
        guard let mine = local?.stat?.isExecutable else { return remote?.isExecutable }
        guard let theirs = remote?.isExecutable else { return mine }
        return mine == synced?.isExecutable ?? mine ? theirs : mine
    }

    /// The value that is sent with the content.
    ///
    /// A file without a value on the server is only ever marked executable,
    /// since the copy here may have been made without the mark.
    var toldExecutable: Bool? {
        if let remote, remote.isExecutable == nil, wantedExecutable == false { return nil }
        return wantedExecutable
    }

    /// The value for the merge base: that of both sides when they agree, else the last one.
    func agreedExecutable(_ local: LocalState?, _ remote: RemoteState?) -> Bool? {
        guard let mine = local?.stat?.isExecutable, mine == remote?.isExecutable else { return synced?.isExecutable }
        return mine
    }

    /// What it counts for where files travel in groups, in bytes; 0 for notes and for what travels by itself.
    var groupBytes: Int64 {
        let size = max(local?.size ?? 0, remote?.size ?? 0)
        return size > SyncBatch.maximumInlineBytes && size <= ChunkManifest.maximumChunkBytes ? size : 0
    }

    /// Whether it is in sync: there is nothing to plan for it (people read: synced, else pending).
    var isSettled: Bool {
        if isExcluded { return true }
        switch (local, remote, synced) {
        case (nil, nil, nil): return true
        case (let local?, nil, nil): return local.isLeftover
        case (let local?, let remote?, let synced?):
            return !isMovedLocally && !isMovedRemotely && !isEditedLocally && !isEditedRemotely
                && !differsInExecutable && local.isFolder == remote.isFolder && synced.revision == remote.revision
                && !remote.isUnverified
        default: return false
        }
    }
}

/// A file's identity, from name_to_handle_at(2): inode and generation, never reused for another file.
///
/// Up to 16 bytes are kept as they are, the first 16 of the SHA-256 of longer ones.
struct FileHandle: Hashable, Sendable {
    var high: UInt64
    var low: UInt64
}

extension FileHandle {
    /// Creates a handle from the bytes of name_to_handle_at(2).
    init(bytes: some Collection<UInt8>) {
        let kept = bytes.count <= 16 ? Array(bytes) : Array(SHA256.hash(data: Array(bytes)).prefix(16))
        let word = { (bytes: ArraySlice<UInt8>) in bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        self.init(high: word(kept.dropFirst(8)), low: word(kept.prefix(8)))
    }
}
