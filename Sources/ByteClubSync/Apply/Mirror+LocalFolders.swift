import ByteClubCore
import Glibc

extension Mirror {
    /// Makes the folders that the server shows, parents first; tells how many there are now.
    func makeFolders(_ wanted: [(item: ItemID, place: Place)]) throws -> Int {
        var made: [(item: ItemID, place: Place, look: DiskLook)] = []
        var parents: [ItemID: any DiskFolder] = [:]
        for (id, place) in wanted {
            guard let item = try store.item(id), item.local == nil, item.remote?.isFolder == true,
                let parent = try folder(place.parent)
            else { continue }
            do throws(FileError) {
                try parent.makeFolder(place.name.text)
                guard let look = try parent.entry(place.name.text)?.look else { continue }
                made.append((id, place, look))
                parents[place.parent] = parent
                refusals[id] = nil
            } catch {
                suspects.insert(place.parent)
                try error.code == EEXIST ? noteTaken(place, wantedBy: id) : note(error, about: id)
            }
        }
        try sync(parents)
        if made.isEmpty { return 0 }
        try store.transaction(durably: true) {
            try unseal(made.map(\.place.parent))
            for (id, place, look) in made {
                guard var item = try store.item(id), let remote = item.remote else { continue }
                item.local = LocalState(place: place, isFolder: true, look: look)
                item.synced = SyncedState(
                    place: place, remoteName: place.name.unless(remote.place.name), isFolder: true,
                    revision: remote.revision)
                try store.save(item)
            }
        }
        try together { for (id, _, _) in made { try tell(.makeLocalFolder, id) } }
        if isWatching { suspects.formUnion(made.map(\.item)) }
        return made.count
    }

    /// Renames or moves an entry on the disk; true when it is there now.
    func move(_ id: ItemID, to place: Place) throws -> Bool {
        guard let item = try store.item(id), let local = item.local, let look = local.look,
            let source = try folder(local.place.parent), let target = try folder(place.parent)
        else { return false }
        let (name, newName) = (local.place.name.text, place.name.text)
        do {
            guard let there = try source.entry(name), there.look.handle == look.handle else {
                suspects.insert(local.place.parent)
                return false
            }
            try Self.rename(name, in: source, to: target, newName, look)
            guard let now = try target.entry(newName), now.look.handle == look.handle else {
                // Another entry had come under the name in the last moment: it goes back.
                try target.rename(newName, to: source, name, .withoutReplacing)
                suspects.formUnion([local.place.parent, place.parent])
                return false
            }
            try target.sync()
            if place.parent != local.place.parent { try source.sync() }
            try remember(id, at: place, now.look)
            refusals[id] = nil
        } catch let error as FileError {
            suspects.formUnion([local.place.parent, place.parent])
            try error.code == EEXIST ? noteTaken(place, wantedBy: id) : note(error, about: id)
            return false
        }
        return true
    }

    /// Renames to a free name, or to another spelling of the entry's own name where the disk takes both for one.
    private static func rename(
        _ name: String, in source: any DiskFolder, to target: any DiskFolder, _ newName: String, _ look: DiskLook
    ) throws(FileError) {
        do throws(FileError) {
            try source.rename(name, to: target, newName, .withoutReplacing)
        } catch {
            guard error.code == EEXIST, try target.entry(newName)?.look.handle == look.handle else { throw error }
            let aside = NumberedName.tagged(name, "(renaming)")
            try source.rename(name, to: target, aside, .withoutReplacing)
            try target.rename(aside, to: target, newName, .withoutReplacing)
        }
    }

    /// Remembers where an entry is now; both sides agree about it when the server has it there.
    private func remember(_ id: ItemID, at place: Place, _ look: DiskLook) throws {
        let before = try path(of: id, on: .local)
        openFolders.removeAll(keepingCapacity: true)
        try store.transaction(durably: true) {
            guard var item = try store.item(id), var local = item.local else { return }
            try unseal([local.place.parent, place.parent])
            local.place = place
            let isSame = local.look.map { $0.fingerprint.isSameContent(as: look.fingerprint) } ?? false
            if !local.isFolder, !isSame || look.isRacy && local.look?.isRacy == true { local.hash = nil }
            local.look = look
            item.local = local
            if let remote = item.remote, item.synced != nil, remote.place.isSameKey(as: place) {
                item.synced?.place = place
                item.synced?.remoteName = place.name.unless(remote.place.name)
            }
            try store.save(item)
        }
        try tell(.moveLocal, id, from: before)
    }
}
