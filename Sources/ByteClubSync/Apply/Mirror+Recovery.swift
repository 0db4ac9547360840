import ByteClubCore
import Glibc

extension Mirror {
    /// Classifies what an engine that was stopped in the middle left in staging; whatever else it did, the next look at
    /// both sides tells.
    func recover() throws {
        guard let area else { return }
        isStagingUnclear = false
        for entry in try area.staging.list() {
            switch StagedName(entry.name) {
            case .writing(let item) where transfers[item] != nil: continue
            case .writing where entry.kind == .file: try area.staging.removeFile(entry.name)
            case .exchanging(let item, let new, let expected) where entry.kind == .file:
                let hash = try Scanner.hash(area.staging.open(entry.name))
                if hash == new {
                    // It never came into its place, and is fetched again.
                    try area.staging.removeFile(entry.name)
                } else {
                    try settle(entry.name, item, isKnown: hash == expected, area)
                }
            case .leaving(let item, let expected) where entry.kind == .file:
                let hash = try Scanner.hash(area.staging.open(entry.name))
                try settle(entry.name, item, isKnown: expected == nil || hash == expected, area)
            default:
                try discard(entry.name, from: area.staging, as: "staging/" + entry.name, area)
            }
        }
        try area.staging.sync()
        try finishParting()
        if arriving.isEmpty { try recognizeArrived() }
    }

    /// Trashes a displaced file that was replaced or deleted by intent; an edit that came in between goes back, also
    /// where its folder is gone.
    private func settle(_ name: String, _ id: ItemID, isKnown: Bool, _ area: PrivateArea) throws {
        let item = try store.item(id)
        let place = item?.local?.place ?? item?.synced?.place ?? item?.remote?.place
        let path = try place == nil ? "staging/" + name : shownPath(of: id)
        guard !isKnown, let place else {
            try discard(name, from: area.staging, as: path, area)
            return
        }
        let home = try home(in: place.parent)
        do throws(FileError) {
            try area.staging.rename(name, to: home.folder, place.name.text, .withoutReplacing)
            suspects.insert(home.id)
        } catch {
            guard error.code == EEXIST else { throw error }
            try keepBeside(name, in: home.folder, place.name.text, home.id, area)
        }
    }

    /// Where what was in a folder goes back to: the folder, or the root when it is gone.
    private func home(in parent: ItemID) throws -> (id: ItemID, folder: any DiskFolder) {
        try folder(parent).map { (parent, $0) } ?? (.root, root)
    }

    /// Looks at files in the trash whose writers may still have written to them; what was written stands beside the new
    /// content as a conflict copy.
    func catchLateWriters() throws {
        guard let area, !displaced.isEmpty else { return }
        let now = surroundings.uptime()
        // A few are looked at in each cycle, many once a second.
        if displaced.count > 16, let last = lastLateLook, now - last < .seconds(1) { return }
        lastLateLook = now
        var rest: [DisplacedFile] = []
        var folders: [String: any DiskFolder] = [:]
        for file in displaced {
            let (parent, name) = LocalPath.split(file.trashPath)
            guard let folder = folders[parent] ?? area.trash.find(file.trashPath)?.folder else { continue }
            if folders.count >= 64 { folders = [:] }
            folders[parent] = folder
            guard let there = try folder.entry(name) else { continue }
            let isWritten =
                there.look.fingerprint.modified != file.look.fingerprint.modified
                || there.look.fingerprint.size != file.look.fingerprint.size
            if !isWritten {
                if file.until > now { rest.append(file) }
                continue
            }
            if let open = try? folder.open(name), open.isBeingWritten {
                rest.append(file)
                continue
            }
            try giveBack(file, folder, name, area)
        }
        displaced = rest
    }

    private func giveBack(
        _ file: DisplacedFile, _ trash: any DiskFolder, _ name: String, _ area: PrivateArea
    ) throws {
        let (_, last) = LocalPath.split(file.path)
        let item = try store.item(file.item)
        let home = try home(in: item?.local?.place.parent ?? item?.synced?.place.parent ?? .root)
        let stage = StagedName.leaving(file.item, expected: nil).text
        try trash.rename(name, to: area.staging, stage, .withoutReplacing)
        try keepBeside(stage, in: home.folder, last, home.id, area)
        try log(.conflict, file.path, "written to after it was replaced; the text is kept beside it")
    }
}
