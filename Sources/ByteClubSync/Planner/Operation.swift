/// One thing to do so that disk and server come to agree.
///
/// Whoever carries it out checks that both sides still are as the trees say, and otherwise leaves all as it is: the next
/// plan is made from what is there then.
enum Operation: Hashable, Sendable {
    // Bookkeeping, without effect on either side.

    /// Both sides show the same: remember it as synced.
    case adopt(ItemID)
    /// Both sides have lost it: forget it.
    case forget(ItemID)
    /// It is gone on one side but changed on the other: the deletion is cancelled, the change comes back.
    case revoke(ItemID)
    /// A new entry on disk and one on the server turn out to be the same: `local` becomes part of `remote`.
    case unify(local: ItemID, remote: ItemID)

    // On the disk.

    /// Make the folder that the server shows.
    case makeFolder(ItemID, Place)
    /// Rename or move the entry; what is in a folder comes along.
    case moveLocal(ItemID, Place)
    /// Get the server's content, to a place where nothing is or over the content that is known.
    case download(ItemID, Place)
    /// Put the entry into the trash; a folder only when nothing is left in it.
    case discard(ItemID)
    /// Both sides changed the content: merge the texts, or keep the disk's content beside it under `name`, as a new entry.
    case reconcile(ItemID, conflictName: EntryName)

    // On the server.

    /// Make the folder that the disk shows.
    case makeRemoteFolder(ItemID)
    /// Send the disk's content: a new file, a new version, or one that was deleted.
    case upload(ItemID)
    /// Rename or move the entry with all that is in it.
    case moveRemote(ItemID, Place)
    /// Delete the entry with all that is in it, unless any of it has changed.
    case deleteRemote(ItemID)

    /// The item that it is about.
    var item: ItemID {
        switch self {
        case .adopt(let id), .forget(let id), .revoke(let id), .unify(let id, _), .makeFolder(let id, _),
            .moveLocal(let id, _), .download(let id, _), .discard(let id), .reconcile(let id, _),
            .makeRemoteFolder(let id), .upload(let id), .moveRemote(let id, _), .deleteRemote(let id):
            id
        }
    }

    /// Whether it has no effect on either side.
    var isBookkeeping: Bool {
        switch self {
        case .adopt, .forget, .revoke, .unify: true
        default: false
        }
    }

    /// Whether it takes an entry away from one side.
    var isDeletion: Bool {
        switch self {
        case .discard, .deleteRemote: true
        default: false
        }
    }
}
