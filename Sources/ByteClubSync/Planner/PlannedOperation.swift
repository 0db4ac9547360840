/// One operation of a plan, which brings disk and server closer to agreement.
///
/// It is carried out only if both sides still match the trees (invariant I5); otherwise nothing is changed, and the
/// next plan starts from what is there then.
enum PlannedOperation: Hashable, Sendable {
    case note(ItemID, Bookkeeping)
    case disk(ItemID, DiskAction)
    case server(ItemID, ServerAction)

    /// The item that it concerns.
    var item: ItemID {
        switch self {
        case .note(let id, _), .disk(let id, _), .server(let id, _): id
        }
    }

    /// The side that it changes; nil when it has no effect on either.
    var side: Side? {
        switch self {
        case .note: nil
        case .disk: .local
        case .server: .remote
        }
    }

    /// Where it puts the item on disk; nil when it does not.
    var place: Location? { if case .disk(_, let action) = self { action.place } else { nil } }

    /// Whether it takes an entry away from one side: then it waits for the end of the round.
    var isDeletion: Bool {
        switch self {
        case .note: false
        case .disk(_, let action): action == .trash
        case .server(_, let action): action == .delete
        }
    }

    /// What it does to the server; nil when it does nothing there.
    var write: PlannedWrite? {
        if case .server(let id, let action) = self { PlannedWrite(item: id, action: action) } else { nil }
    }
}

/// What is remembered of an item, without effect on either side.
enum Bookkeeping: Hashable, Sendable {
    /// Both sides show the same: remember it as synced.
    case adopt
    /// Both sides have lost it: forget it.
    case forget
    /// It is deleted on one side but changed on the other: cancel the deletion by forgetting the merge base, so that it
    /// is created again.
    case resurrect
    /// A new entry on disk, this item, and one on the server are the same: give both the identity of the server's.
    case linkIdentity(to: ItemID)
}

/// What is done on the disk.
enum DiskAction: Hashable, Sendable {
    /// Make the folder that the server shows.
    case makeFolder(Location)
    /// Rename or move the entry with all that is in it.
    case move(Location)
    /// Download the server's content to a free location, or over the known content.
    case download(Location)
    /// Move the entry to the trash; a folder only when it is empty.
    case trash
    /// Both sides changed the content: merge the texts, or keep the disk's as a conflict copy under `conflictName`.
    case resolveContent(conflictName: EntryName)

    /// Where it puts the item; nil when it does not.
    var place: Location? {
        switch self {
        case .makeFolder(let location), .move(let location), .download(let location): location
        case .trash, .resolveContent: nil
        }
    }
}

/// What is done on the server.
enum ServerAction: Hashable, Sendable {
    /// Make the folder that the disk shows.
    case makeFolder
    /// Send the disk's content: a new file, a new version, or one that was deleted.
    case upload
    /// Rename or move the entry with all that is in it.
    case move(Location)
    /// Delete the entry with all that is in it, unless any of it has changed.
    case delete
}

/// A planned change of the server.
struct PlannedWrite: Hashable, Sendable {
    let item: ItemID
    let action: ServerAction
}
