import ByteClubCore

/// A write to the server, with the state it was prepared from.
struct OutgoingWrite: Sendable {
    /// What it does to the server's tree.
    enum Effect: Sendable {
        case folder
        case content(ContentHash, size: Int64)
        case move(Location)
        /// How many entries are deleted, those in a folder included.
        case delete(nodes: Int)
    }

    let item: ItemID
    let effect: Effect
    /// The local state when it was prepared; nil when the disk is not involved.
    var local: LocalState?
    /// The server's revision of the entry when it was prepared; nil when it told none, or had no such entry.
    var seen: Revision?
    /// The entry's path on the server before it was moved or deleted, for the event.
    var pathBefore: String?

    /// The content that it sends; nil when it sends none.
    var hash: ContentHash? {
        switch effect {
        case .content(let hash, _): hash
        case .folder, .move, .delete: nil
        }
    }

    /// Where it puts an entry that the server has already; nil when it leaves it where it is.
    var target: Location? {
        switch effect {
        case .move(let location): location
        case .folder, .content, .delete: nil
        }
    }

    /// The merge base of its item once the server has accepted it and reports this state; nil for none.
    func base(of item: Item, _ reported: RemoteState) -> SyncedState? {
        switch effect {
        case .folder:
            guard let location = local?.location else { return item.synced }
            return SyncedState(
                location: location, remoteName: location.name.unless(reported.location.name), isFolder: true,
                revision: reported.revision)
        case .content(let hash, let size):
            guard let location = item.synced?.location ?? local?.location else { return item.synced }
            return SyncedState(
                location: location,
                remoteName: item.synced.map { $0.remoteName } ?? location.name.unless(reported.location.name),
                isFolder: false, hash: hash, size: size, revision: reported.revision,
                isExecutable: item.agreedExecutable(local, reported))
        case .move(let location):
            guard var base = item.synced else { return nil }
            // Without identities, a move makes a revision of its own.
            if reported.node == nil, !item.isFolder { base.revision = reported.revision }
            if let local = item.local, local.location.isSameKey(as: location) {
                base.location = local.location
                base.remoteName = local.location.name.unless(reported.location.name)
            }
            return base
        case .delete: return item.synced
        }
    }

    /// Logs the completed write; to be called in a transaction.
    ///
    /// - Returns: The event, and how many entries it concerns.
    func log(in context: SyncContext) throws -> SyncReport.Emission {
        switch effect {
        case .folder: return .init(event: try context.log(.makeRemoteFolder, item))
        case .content(_, let size): return .init(event: try context.log(.upload, item, bytes: size))
        case .move: return .init(event: try context.log(.moveRemote, item, from: pathBefore))
        case .delete(let nodes):
            let path = pathBefore ?? ""
            try context.log(.deleteRemote, path)
            return .init(event: SyncEvent(.deleteRemote, path: path), nodes: nodes)
        }
    }
}

extension SyncContext {
    /// Records the hashes that are being sent, so that they are recognised when an answer is lost.
    func noteSending(_ writes: [OutgoingWrite]) throws {
        let contents = writes.filter { $0.hash != nil }
        if contents.isEmpty { return }
        try store.edit(durably: false) { editor in for write in contents { try editor.sending(write) } }
    }
}
