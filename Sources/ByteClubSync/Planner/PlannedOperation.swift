/// One operation of a plan, which brings disk and server closer to agreement.
///
/// It is carried out only if both sides still match the trees (invariant I5); otherwise nothing is changed, and the
/// next plan starts from what is there then.
enum PlannedOperation: Hashable, Sendable {
    // Bookkeeping, without effect on either side.

    /// Both sides show the same: remember it as synced.
    case adopt(ItemID)
    /// Both sides have lost it: forget it.
    case forget(ItemID)
    /// It is deleted on one side but changed on the other: cancel the deletion by forgetting the merge base, so that it
    /// is created again.
    case resurrect(ItemID)
    /// A new entry on disk and one on the server are the same: give both one identity, that of `remote`.
    case linkIdentity(local: ItemID, remote: ItemID)

    // On the disk.

    /// Make the folder that the server shows.
    case makeFolder(ItemID, Location)
    /// Rename or move the entry with all that is in it.
    case moveLocal(ItemID, Location)
    /// Download the server's content to a free location, or over the known content.
    case download(ItemID, Location)
    /// Move the entry to the trash; a folder only when it is empty.
    case trash(ItemID)
    /// Both sides changed the content: merge the texts, or keep the disk's as a conflict copy under `conflictName`.
    case resolveContent(ItemID, conflictName: EntryName)

    // On the server.

    /// Make the folder that the disk shows.
    case makeRemoteFolder(ItemID)
    /// Send the disk's content: a new file, a new version, or one that was deleted.
    case upload(ItemID)
    /// Rename or move the entry with all that is in it.
    case moveRemote(ItemID, Location)
    /// Delete the entry with all that is in it, unless any of it has changed.
    case deleteRemote(ItemID)

    /// The item that it concerns.
    var item: ItemID {
        switch self {
        case .adopt(let id), .forget(let id), .resurrect(let id), .linkIdentity(let id, _), .makeFolder(let id, _),
            .moveLocal(let id, _), .download(let id, _), .trash(let id), .resolveContent(let id, _),
            .makeRemoteFolder(let id), .upload(let id), .moveRemote(let id, _), .deleteRemote(let id):
            id
        }
    }

    /// Where it puts the item on disk; nil when it does not.
    var place: Location? {
        switch self {
        case .makeFolder(_, let location), .moveLocal(_, let location), .download(_, let location): location
        default: nil
        }
    }

    /// Whether it has no effect on either side.
    var isBookkeeping: Bool {
        switch self {
        case .adopt, .forget, .resurrect, .linkIdentity: true
        default: false
        }
    }

    /// Whether it takes an entry away from one side.
    var isDeletion: Bool {
        switch self {
        case .trash, .deleteRemote: true
        default: false
        }
    }
}
