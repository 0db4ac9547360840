import ByteClubCore
import Glibc

extension Mirror {
    /// Puts entries into the trash that are gone on the server, children before their folders; tells how many went.
    func discard(_ ids: [ItemID]) throws -> Int {
        guard let area else { return 0 }
        var gone: [ItemID] = []
        var parents: [ItemID: any DiskFolder] = [:]
        for id in ids {
            guard let item = try store.item(id), let local = item.local, item.remote == nil,
                let parent = try folder(local.place.parent)
            else { continue }
            do {
                let isGone =
                    local.isFolder
                    ? try discardFolder(item, local, parent, gone) : try discardFile(item, local, parent, area)
                guard isGone else { continue }
                gone.append(id)
                parents[local.place.parent] = parent
            } catch let error as FileError {
                isStagingUnclear = true
                try note(error, about: id)
            }
        }
        for id in gone { parents[id] = nil }
        try sync(parents)
        if gone.isEmpty { return 0 }
        var paths: [(ItemID, String)] = []
        for id in gone { paths.append((id, try path(of: id, on: .local))) }
        try store.transaction(durably: true) {
            for id in gone {
                guard var item = try store.item(id) else { continue }
                if let parent = item.local?.place.parent { try store.setSeal(nil, of: parent) }
                item.local = nil
                item.synced = nil
                try store.save(item)
                openFolders[id] = nil
            }
        }
        try together {
            for (_, path) in paths {
                tally.note(SyncEvent(.deleteLocal, path: path))
                try log(.deleteLocal, path)
            }
        }
        return gone.count
    }

    private func discardFile(
        _ item: Item, _ local: LocalState, _ parent: any DiskFolder, _ area: PrivateArea
    ) throws -> Bool {
        let name = local.place.name.text
        guard try isAsPlanned(local, item.id, in: parent) else { return false }
        let leaving = StagedName.leaving(item.id, expected: local.hash).text
        try parent.rename(name, to: area.staging, leaving, .withoutReplacing)
        if try isStill(local, leaving, in: area.staging) {
            try trash(leaving, item.id, try path(of: item.id, on: .local), area)
            return true
        }
        // An edit that came in the last moment goes back.
        suspects.insert(local.place.parent)
        do throws(FileError) {
            try area.staging.rename(leaving, to: parent, name, .withoutReplacing)
        } catch {
            guard error.code == EEXIST else { throw error }
            try keepBeside(leaving, in: parent, name, local.place.parent, area)
        }
        return false
    }

    /// Removes a folder; one in which something is left that is not synced stays for its sake.
    private func discardFolder(
        _ item: Item, _ local: LocalState, _ parent: any DiskFolder, _ gone: [ItemID]
    ) throws -> Bool {
        let name = local.place.name.text
        guard let there = try parent.entry(name), there.kind == .folder, there.look.handle == local.look?.handle else {
            suspects.insert(local.place.parent)
            return false
        }
        // What the tree has in it may just have been moved out, and keeps the folder until a look has told.
        let known = try store.children(of: item.id, on: .local).filter { child in !gone.contains(child.id) }
        if !known.isEmpty {
            if hasLooked.insert(item.id).inserted { suspects.insert(item.id) }
            return false
        }
        do throws(FileError) {
            try parent.removeFolder(name)
            return true
        } catch {
            guard error.code == ENOTEMPTY || error.code == EEXIST else { throw error }
        }
        // Something that the tree does not have: new, or never synced. Only a look tells.
        if hasLooked.contains(item.id) {
            var item = item
            item.local?.isLeftover = true
            item.synced = nil
            try store.save(item)
            return false
        }
        hasLooked.insert(item.id)
        suspects.insert(item.id)
        return false
    }
}
