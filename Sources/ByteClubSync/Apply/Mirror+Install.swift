import ByteClubCore
import Glibc

extension Mirror {
    /// Puts new contents in their places: whole, durable, and over nothing but what the plan saw there.
    ///
    /// - Returns: What has come into its place and is remembered as synced.
    func install(_ incoming: [Incoming]) throws -> [Received] {
        guard let area, !incoming.isEmpty else { return [] }
        let isFew = incoming.count <= Self.fewFiles
        var staged: [Incoming] = []
        for var one in incoming { if try stage(&one, area, durably: isFew) { staged.append(one) } }
        if !isFew { try root.syncFileSystem() }
        try note(arriving: staged)
        var received: [Received] = []
        var folders: [ItemID: any DiskFolder] = [:]
        for var one in staged {
            do {
                guard let look = try place(&one, area) else { continue }
                received.append(Received(incoming: one, look: look))
                folders[one.place.parent] = try folder(one.place.parent)
            } catch let error as FileError {
                isStagingUnclear = true
                try note(error, about: one.item)
            }
        }
        try sync(folders)
        try remember(received, of: staged.map(\.item))
        return received
    }

    /// How many files or folders are synced one by one rather than with their whole file system.
    static var fewFiles: Int { 4 }

    /// Makes what was renamed in folders durable.
    func sync(_ folders: [ItemID: any DiskFolder]) throws {
        if folders.count > Self.fewFiles { return try root.syncFileSystem() }
        for (_, folder) in folders.sorted(by: { $0.key < $1.key }) { try folder.sync() }
    }

    /// Writes content into staging.
    private func stage(_ one: inout Incoming, _ area: PrivateArea, durably: Bool) throws -> Bool {
        do {
            let name = one.stage.text
            if let bytes = one.bytes {
                one.handle = try Self.write(bytes, name, area.staging, durably: durably)
            } else {
                let file = try area.staging.open(name)
                if durably { try file.sync() }
                one.handle = try file.look().handle
            }
            return true
        } catch {
            try note(error, about: one.item)
            return false
        }
    }

    /// Writes bytes into staging; what an earlier attempt has left there goes.
    ///
    /// - Returns: Which file it is.
    static func write(
        _ bytes: [UInt8], _ name: String, _ staging: any DiskFolder, durably: Bool
    ) throws(FileError) -> FileHandle {
        let file: any DiskFile
        do throws(FileError) {
            file = try staging.create(name)
        } catch {
            guard error.code == EEXIST else { throw error }
            try staging.removeFile(name)
            file = try staging.create(name)
        }
        try file.write(bytes)
        if durably { try file.sync() }
        return try file.look().handle
    }

    /// Brings staged content into its place; nil when the place is not as the plan saw it.
    func place(_ one: inout Incoming, _ area: PrivateArea) throws -> DiskLook? {
        let staging = area.staging
        guard let item = try store.item(one.item),
            item.remote?.revision == one.revision || item.remote?.hash == one.hash,
            item.local == one.replaced, let target = try folder(one.place.parent)
        else {
            try staging.removeFile(one.stage.text)
            return nil
        }
        let name = one.place.name.text
        guard let replaced = one.replaced else {
            if let copy = parted[one.item], let beside = try folder(copy.parent) {
                try takeAccess(one.stage.text, from: copy.name.text, in: beside, area)
            }
            do throws(FileError) {
                try staging.rename(one.stage.text, to: target, name, .withoutReplacing)
            } catch {
                guard error.code == EEXIST else { throw error }
                try staging.removeFile(one.stage.text)
                try noteTaken(one.place, wantedBy: one.item)
                return nil
            }
            return try look(at: one, in: target)
        }
        guard let expected = replaced.hash, try isAsPlanned(replaced, item.id, in: target) else {
            try staging.removeFile(one.stage.text)
            return nil
        }
        try takeAccess(one.stage.text, from: name, in: target, area)
        let exchanging = StagedName.exchanging(one.item, new: one.hash, expected: expected)
        try staging.rename(one.stage.text, to: staging, exchanging.text, .withoutReplacing)
        one.stage = exchanging
        do throws(FileError) {
            try staging.rename(exchanging.text, to: target, name, .exchanging)
        } catch {
            // Nothing was exchanged: the old file went elsewhere in the last moment.
            try staging.removeFile(exchanging.text)
            throw error
        }
        guard try putAside(exchanging.text, replaced, one.item, area) else {
            try takeBack(one, target, name, area)
            suspects.insert(one.place.parent)
            return nil
        }
        return try look(at: one, in: target)
    }

    /// Keeps staged content from those from whom the file is closed whose place it takes.
    private func takeAccess(
        _ stage: String, from name: String, in folder: any DiskFolder, _ area: PrivateArea
    ) throws(FileError) {
        if try area.staging.takeAccess(stage, from: name, in: folder) { try area.staging.open(stage).sync() }
    }

    /// How a file looks that has just come into its place; nil when somebody has put another one there since.
    ///
    /// The rename has stamped it, but a write would stamp the content anew: only content that was written within the last
    /// moments leaves a doubt.
    private func look(at one: Incoming, in folder: any DiskFolder) throws(FileError) -> DiskLook? {
        guard var look = try folder.entry(one.place.name.text)?.look, look.handle == one.handle else {
            suspects.insert(one.place.parent)
            return nil
        }
        look.isRacy = look.fingerprint.isContentRacy(at: surroundings.disk.now())
        return look
    }

    /// Whether a file is the one that the plan saw, and nobody is writing it.
    func isAsPlanned(_ seen: LocalState, _ item: ItemID, in folder: any DiskFolder) throws -> Bool {
        let name = seen.place.name.text
        guard let there = try folder.entry(name), there.kind == .file, let look = seen.look,
            there.look.handle == look.handle, there.look.fingerprint.isSameContent(as: look.fingerprint)
        else {
            suspects.insert(seen.place.parent)
            return false
        }
        if let file = try? folder.open(name), file.isBeingWritten {
            postpone(item)
            return false
        }
        return true
    }

    /// Trashes a displaced file that is the one the plan saw; false when it is another, or was written since.
    private func putAside(_ name: String, _ seen: LocalState, _ item: ItemID, _ area: PrivateArea) throws -> Bool {
        guard try isStill(seen, name, in: area.staging) else { return false }
        try trash(name, item, try path(of: item, on: .local), area)
        return true
    }

    /// Whether what stands in staging has the content that the plan saw.
    func isStill(_ seen: LocalState, _ name: String, in staging: any DiskFolder) throws(FileError) -> Bool {
        guard let look = seen.look else { return false }
        return try isStill(look, seen.hash, name, in: staging)
    }

    /// The same for a file of which a look and its content's hash are known.
    func isStill(
        _ look: DiskLook, _ hash: ContentHash?, _ name: String, in staging: any DiskFolder
    ) throws(FileError) -> Bool {
        guard let there = try staging.entry(name), there.kind == .file else { return false }
        let isSame =
            there.look.handle == look.handle && there.look.fingerprint.isSameContent(as: look.fingerprint)
        if isSame, !look.isRacy { return true }
        return try Scanner.hash(staging.open(name)) == hash
    }

    /// Puts a file from staging into the trash, and remembers it as long as its writers may still hold it open.
    func trash(_ name: String, _ item: ItemID, _ path: String, _ area: PrivateArea) throws(FileError) {
        let place = try discard(name, from: area.staging, as: path, area)
        guard let (folder, last) = area.trash.find(place), let look = try folder.entry(last)?.look else { return }
        let until = surroundings.uptime() + .seconds(600)
        displaced.append(DisplacedFile(item: item, trashPath: place, path: path, look: look, until: until))
    }

    /// Undoes an exchange that met an edit: the edit goes back to its place, and the new content waits for the next plan.
    private func takeBack(_ one: Incoming, _ target: any DiskFolder, _ name: String, _ area: PrivateArea) throws {
        let stage = one.stage.text
        do throws(FileError) {
            try area.staging.rename(stage, to: target, name, .exchanging)
        } catch {
            guard error.code == ENOENT else { throw error }
            // The new content was moved away in the meantime, so the place is free.
            return try area.staging.rename(stage, to: target, name, .withoutReplacing)
        }
        if try Scanner.hash(area.staging.open(stage)) == one.hash {
            try area.staging.removeFile(stage)
        } else {
            // Somebody was quick enough to edit the new content as well.
            try keepBeside(stage, in: target, name, one.place.parent, area)
        }
    }

    /// Gives a file from staging a conflict name in a folder; the next look finds it there.
    func keepBeside(
        _ stage: String, in folder: any DiskFolder, _ name: String, _ parent: ItemID, _ area: PrivateArea
    ) throws {
        let hash = try Scanner.hash(area.staging.open(stage))
        var number = 1
        while true {
            let copy = ConflictName.name(for: name, loser: hash, number: number)
            do throws(FileError) {
                try area.staging.rename(stage, to: folder, copy, .withoutReplacing)
                break
            } catch {
                guard error.code == EEXIST else { throw error }
                number += 1
            }
        }
        try folder.sync()
        suspects.insert(parent)
    }

    /// Forgets how folders looked in which the engine has changed something: they may come to look so again, and then be
    /// other folders than the tree says.
    func unseal(_ folders: [ItemID]) throws {
        for folder in Set(folders).sorted() { try store.setSeal(nil, of: folder) }
    }

    /// Remembers what has come into its place, of those that were to.
    func remember(_ received: [Received], of items: [ItemID]) throws {
        if received.isEmpty { return try settle(arriving: items) }
        try store.transaction(durably: true) {
            try settle(arriving: items)
            try unseal(received.map(\.incoming.place.parent))
            for one in received {
                let incoming = one.incoming
                // What the server has deleted meanwhile is there now, to be deleted.
                var item = try store.item(incoming.item) ?? Item(incoming.item)
                item.local = LocalState(
                    place: incoming.place, isFolder: false, hash: incoming.hash, size: incoming.size, look: one.look)
                if item.remote?.revision == incoming.revision { item.remote?.hash = incoming.hash }
                item.synced = SyncedState(
                    place: item.synced?.place ?? incoming.place,
                    remoteName: item.synced.map { $0.remoteName }
                        ?? item.remote.flatMap { incoming.place.name.unless($0.place.name) },
                    isFolder: false, hash: incoming.hash, size: incoming.size, revision: incoming.revision)
                item.sent = nil
                try store.save(item)
            }
        }
        for one in received {
            refusals[one.incoming.item] = nil
            parted[one.incoming.item] = nil
            if let bytes = one.incoming.bytes { surroundings.bases.keep(bytes, one.incoming.hash) }
        }
    }
}

extension EntryName {
    /// The server's spelling of this name, unless it is the same; another name altogether is none.
    func unless(_ remote: EntryName) -> EntryName? { self == remote || key != remote.key ? nil : remote }
}
