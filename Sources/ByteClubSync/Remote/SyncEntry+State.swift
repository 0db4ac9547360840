import ByteClubCore

extension SyncEntry {
    /// Whether the tree has a newer state of the entry: the answer or page is outdated.
    func isOlder(than seen: RemoteState) -> Bool { revision < seen.revision || placeRevision < seen.placeRevision }

    /// The entry as a remote state in a folder of the tree.
    func state(in parent: ItemID) -> RemoteState {
        RemoteState(
            node: node, location: Location(parent, EntryName(name)), isFolder: isFolder, hash: hash, size: bytes,
            revision: revision, placeRevision: placeRevision)
    }
}
