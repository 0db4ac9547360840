import ByteClubCore

/// An entry as it was last observed on disk.
struct LocalState: Hashable, Sendable {
    var place: Place
    var isFolder: Bool
    /// The content's hash; nil for folders, and for files as long as nobody has read them since they changed.
    var hash: ContentHash?
    var size: Int64 = 0
    /// How the entry looked when it was observed.
    var look: DiskLook?
    /// Whether a folder that is gone on the server is only there for what is in it and never synced.
    var isLeftover = false
}

/// What the disk tells of an entry without reading it.
struct DiskLook: Hashable, Sendable {
    /// Which file it is, however often inode numbers are used again.
    var handle: FileHandle
    var fingerprint: Fingerprint
    /// Whether a write right after the look could have gone unseen.
    var isRacy = false
}

/// An entry as the server last told it.
struct RemoteState: Hashable, Sendable {
    /// What the server calls it; nil when it has no identities.
    var node: NodeID?
    var place: Place
    var isFolder: Bool
    /// The content's hash; nil for folders and when the server does not tell.
    var hash: ContentHash?
    var size: Int64 = 0
    /// The content's revision; without identities, the number of the path's revision.
    var revision: Int64 = 0
    /// The place's revision; 0 without identities.
    var placeRevision: Int64 = 0
    /// In which walk over the server's whole state it was seen last.
    var generation: Int64 = 0

    /// The revision of an entry of which only the server can tell whether it is still there.
    static let doubtful: Int64 = -1

    /// Whether nothing can be decided about it before the server was asked.
    var isDoubtful: Bool { revision == Self.doubtful }
}

/// The state in which both sides were last seen equal.
struct SyncedState: Hashable, Sendable {
    /// The place, with the name as the disk had it.
    var place: Place
    /// The name as the server had it, when that differs in letter case or composition from the disk's.
    var remoteName: EntryName?
    var isFolder: Bool
    var hash: ContentHash?
    var size: Int64 = 0
    /// The content's revision on the server.
    var revision: Int64 = 0
}

/// All that is known of one entry: what each side shows now, and what both showed when they were last equal.
struct Item: Hashable, Sendable {
    let id: ItemID
    var local: LocalState?
    var remote: RemoteState?
    private(set) var synced: SyncedState?
    /// What the server called it, kept when it is deleted there, so that it can come back as itself.
    var lastNode: NodeID?
    /// Whether the ignore rules or the selection keep it out: nothing is decided here or below.
    var isExcluded = false
    /// Whether it lies outside of the mirrored folder; then it is excluded, too.
    var isOutside = false
    /// The content that was sent last and not answered yet: when the server has it, it was ours.
    var sent: ContentHash?
    /// Whether it cannot be read, named or looked at now: nothing is decided here or below until it can.
    var isFrozen = false

    init(_ id: ItemID, local: LocalState? = nil, remote: RemoteState? = nil, synced: SyncedState? = nil) {
        self.id = id
        self.local = local
        self.remote = remote
        self.synced = synced
    }

    /// Sets what both sides had in common when they were last equal: for ``TreeEditor`` alone (invariant I4).
    mutating func setBase(_ base: SyncedState?) { synced = base }

    /// Whether it is a folder, on whichever side it is; an item never changes its kind.
    var isFolder: Bool { local?.isFolder ?? remote?.isFolder ?? synced?.isFolder ?? false }

    /// Whether nothing is known any more, so that it can be forgotten.
    var isEmpty: Bool { local == nil && remote == nil && synced == nil }

    /// Whether the disk's place is another than when both were equal.
    var isMovedLocally: Bool {
        guard let local, let synced else { return false }
        return local.place != synced.place
    }

    /// Whether the server's place is another than when both were equal.
    var isMovedRemotely: Bool {
        guard let remote, let synced else { return false }
        return remote.place != Place(synced.place.parent, synced.remoteName ?? synced.place.name)
    }

    /// Whether the disk's content is another than when both were equal; true as well when nobody knows.
    var isEditedLocally: Bool {
        guard let local, let synced, !local.isFolder else { return false }
        return local.hash == nil || local.hash != synced.hash
    }

    /// Whether the server's content is another than when both were equal.
    var isEditedRemotely: Bool {
        guard let remote, let synced, !remote.isFolder else { return false }
        if let hash = remote.hash { return hash != synced.hash }
        return remote.revision != synced.revision
    }

    /// Whether there is nothing to decide here.
    var isSettled: Bool {
        if isExcluded { return true }
        switch (local, remote, synced) {
        case (nil, nil, nil): return true
        case (let local?, nil, nil): return local.isLeftover
        case (let local?, let remote?, let synced?):
            return !isMovedLocally && !isMovedRemotely && !isEditedLocally && !isEditedRemotely
                && local.isFolder == remote.isFolder && synced.revision == remote.revision && !remote.isDoubtful
        default: return false
        }
    }
}
