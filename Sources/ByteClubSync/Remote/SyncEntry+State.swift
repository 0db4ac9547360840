import ByteClubCore

extension SyncEntry {
    /// Whether the tree knows a newer state of the entry than the one that is told: an answer that came late.
    func isOlder(than seen: RemoteState) -> Bool { revision < seen.revision || placeRevision < seen.placeRevision }

    /// The entry as the tree keeps it, in a folder that the tree has.
    func state(in parent: ItemID) -> RemoteState {
        RemoteState(
            node: node, place: Place(parent, EntryName(name)), isFolder: isFolder, hash: hash, size: bytes,
            revision: revision, placeRevision: placeRevision)
    }
}

extension SyncOperation {
    var nameLength: Int {
        switch action {
        case .create(let place, _), .revive(_, let place, _), .move(_, let place): 2 * place.name.utf8.count
        case .edit, .delete: 0
        }
    }
}
