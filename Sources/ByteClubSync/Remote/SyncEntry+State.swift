import ByteClubCore

extension SyncEntry {
    /// Whether the tree has a newer state of the entry: the answer or page is outdated.
    func isOlder(than seen: RemoteState) -> Bool { isContentOlder(than: seen) || placeRevision < seen.placeRevision }

    /// Whether the tree has a newer content of the entry.
    func isContentOlder(than seen: RemoteState) -> Bool { revision < seen.journalNumber ?? 0 }

    /// The entry as a remote state in a folder of the tree.
    func state(in parent: ItemID) -> RemoteState {
        RemoteState(
            node: node, location: Location(parent, EntryName(name)), isFolder: isFolder, hash: hash, size: bytes,
            revision: JournalRevision(number: revision).revision, placeRevision: placeRevision,
            modified: clientModified, isExecutable: isExecutable)
    }
}

extension Metadata {
    /// The entry as a remote state at a location of the tree.
    func state(at location: Location) -> RemoteState {
        RemoteState(
            location: location, isFolder: isFolder, hash: contentHash, size: bytes, revision: rev, modified: fileTime,
            isExecutable: isExecutable)
    }

    /// The entry as the newer state of one that is where it was; `hash` is the content's when the server tells none.
    func state(of seen: RemoteState, hash: ContentHash?) -> RemoteState {
        var state = state(at: seen.location)
        state.generation = seen.generation
        state.hash = state.hash ?? hash
        return state
    }
}

extension RemoteState {
    /// The journal's number of the content's revision; nil when no journal has told it.
    var journalNumber: Int64? { revision.flatMap { JournalRevision($0)?.number } }

    /// The journal's number of the content's revision, on which a write is made to depend.
    ///
    /// - Throws: ``RemoteError`` with the code `protocolViolation` when no journal has told it: without a condition, a
    ///   write would replace whatever the server has.
    func requiredNumber() throws(RemoteError) -> Int64 {
        if let journalNumber { return journalNumber }
        throw RemoteError(.protocolViolation, "'\(location.name)' has an invalid revision")
    }
}
