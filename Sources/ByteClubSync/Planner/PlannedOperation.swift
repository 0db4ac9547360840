import ByteClubCore

/// One operation of a plan, which brings disk and server closer to agreement.
///
/// It is executed only if both sides still match the trees (invariant I5); otherwise nothing is changed, and the next
/// plan starts from the new state.
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

    /// Whether it removes an entry from one side: then it waits for the end of the round.
    var isDeletion: Bool {
        switch self {
        case .disk(_, .trash), .server(_, .delete): true
        case .note, .disk, .server: false
        }
    }

    /// The event that reports it; nil without one.
    var event: SyncEvent.Kind? {
        switch self {
        case .note: nil
        case .disk(_, .makeFolder): .makeLocalFolder
        case .disk(_, .move): .moveLocal
        case .disk(_, .download): .download
        case .disk(_, .trash): .deleteLocal
        case .disk(_, .resolveContent): .conflict
        case .server(_, .makeFolder): .makeRemoteFolder
        case .server(_, .upload): .upload
        case .server(_, .move): .moveRemote
        case .server(_, .delete): .deleteRemote
        }
    }

    /// What it does, for people; `quoted` shows a place.
    func words(_ quoted: (Location) throws -> String) rethrows -> String {
        switch self {
        case .note(_, .adopt): "record that both sides are equal"
        case .note(_, .forget): "forget it: both sides deleted it"
        case .note(_, .resurrect): "restore it: it was deleted on one side and changed on the other"
        case .note(_, .linkIdentity): "match the entry on disk with the one on the server"
        case .disk(_, .makeFolder(let target)): "create the folder \(try quoted(target)) here"
        case .disk(_, .move(let target)): "move it here to \(try quoted(target))"
        case .disk(_, .download(let target)): "download it to \(try quoted(target))"
        case .disk(_, .trash): "move it to the trash here"
        case .disk(_, .resolveContent(let name)): "merge both texts, or keep this machine's as '\(name.text)'"
        case .server(_, .makeFolder): "create the folder on the server"
        case .server(_, .upload): "upload it"
        case .server(_, .move(let target)): "move it on the server to \(try quoted(target))"
        case .server(_, .delete): "delete it on the server"
        }
    }

    /// What it does to the server; nil when it does nothing there.
    var write: PlannedWrite? {
        if case .server(let id, let action) = self { PlannedWrite(item: id, action: action) } else { nil }
    }
}

/// A change of an item's record, without effect on either side.
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

/// An operation on the disk.
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

/// An operation on the server.
enum ServerAction: Hashable, Sendable {
    /// Make the folder that the disk shows.
    case makeFolder
    /// Send the disk's content: a new file, a new version, or one that was deleted.
    case upload
    /// Rename or move the entry with all that is in it.
    case move(Location)
    /// Delete the entry with all that is in it, unless any of it has changed.
    case delete

    /// Whether the item's present state still requires it: with the tree's new revision as its condition it would
    /// replace an unseen change.
    func isStillDue(_ item: Item) -> Bool {
        switch self {
        case .upload: item.remote == nil || item.synced != nil && !item.isEditedRemotely
        case .move: !item.isPlacedRemotely
        case .makeFolder, .delete: true
        }
    }
}

/// A planned change of the server.
struct PlannedWrite: Hashable, Sendable {
    let item: ItemID
    let action: ServerAction
}
