import ByteClubCore
import Glibc

/// A file that is about to get a conflict name: told to the database before, so that an engine that is stopped in between
/// does not take its own renaming for a person's.
private struct Parting {
    let item: ItemID
    let name: EntryName

    init(_ item: ItemID, _ name: EntryName) {
        self.item = item
        self.name = name
    }

    /// The database's value.
    var text: String { "\(item.number) \(name.text)" }

    /// Reads a value; nil when it is none.
    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let number = Int64(parts[0]) else { return nil }
        self.init(ItemID(number), EntryName(String(parts[1])))
    }
}

extension Mirror {
    /// Gives the disk's content a conflict name and an identity of its own.
    func keepBoth(_ item: Item, _ local: LocalState, _ name: EntryName) throws -> Bool {
        guard let folder = try folder(local.place.parent), try isAsPlanned(local, item.id, in: folder) else {
            return false
        }
        let parting = Parting(item.id, name)
        try store.transaction(durably: true) { try store.setMeta(.parting, parting.text) }
        do throws(FileError) {
            try folder.rename(local.place.name.text, to: folder, name.text, .withoutReplacing)
        } catch {
            try store.setMeta(.parting, nil)
            suspects.insert(local.place.parent)
            if error.code != EEXIST { try note(error, about: item.id) }
            return false
        }
        return try part(item, local, name, in: folder)
    }

    /// Gives the content that an engine has renamed before it was stopped the identity that it was to have.
    func finishParting() throws {
        guard let text = try store.meta(.parting) else { return }
        if let parting = Parting(text), let item = try store.item(parting.item), let local = item.local,
            let folder = try? folder(local.place.parent),
            try part(item, local, parting.name, in: folder)
        {
            return
        }
        try store.setMeta(.parting, nil)
    }

    /// Makes the file that has a conflict name by now an entry of its own; false when it is not that file.
    private func part(
        _ item: Item, _ local: LocalState, _ name: EntryName, in folder: any DiskFolder
    ) throws -> Bool {
        guard let look = try folder.entry(name.text)?.look, look.handle == local.look?.handle else { return false }
        try folder.sync()
        let before = try path(of: item.id, on: .local)
        let copy = LocalPath.join(LocalPath.split(before).parent, name.text)
        try store.transaction(durably: true) {
            try unseal([local.place.parent])
            var (old, kept) = (item, Item(try store.newItem()))
            kept.local = local
            kept.local?.place = Place(local.place.parent, name)
            kept.local?.look = look
            if local.look.map({ !$0.fingerprint.isSameContent(as: look.fingerprint) }) ?? true {
                kept.local?.hash = nil
            }
            old.local = nil
            old.synced = nil
            old.sent = nil
            try store.save(old)
            try store.save(kept)
            try store.addConflict(
                ConflictRecord(path: before, copy: copy, winner: item.remote?.hash, loser: local.hash, at: seconds))
            try store.setMeta(.parting, nil)
        }
        parted[item.id] = Place(local.place.parent, name)
        tally.note(
            SyncEvent(.conflict, path: before, copy: copy, message: "both sides changed it; both are kept"))
        try log(.conflict, before, rule: Rule.editedBoth.rawValue, copy)
        return true
    }
}
