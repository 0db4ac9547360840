import ByteClubCore
import Glibc

extension Mirror {
    /// How often the trash is looked at for what is too old.
    private static var trashInterval: Duration { .seconds(6 * 3_600) }

    /// Puts an entry into the trash of today, under a path of its own or one like it.
    ///
    /// - Returns: The path in the trash.
    @discardableResult
    func discard(
        _ name: String, from folder: any DiskFolder, as path: String, _ area: PrivateArea
    ) throws(FileError) -> String {
        let now = surroundings.disk.now()
        let date = WallClock.day(now)
        if date != lastTrashDate {
            // Without it the day counts from when the trash is looked at next, which is later.
            try? note(trashOn: date)
            lastTrashDate = date
        }
        return try area.trash.take(name, from: folder, as: path, at: now)
    }

    private func note(trashOn date: String) throws {
        var ledger = TrashLedger(try store.meta(.trash))
        ledger.renew(date)
        try store.setMeta(.trash, ledger.text)
    }

    /// Empties the trash of days that are older than it is to be kept, counted in days on which the mirror was synced.
    ///
    /// What somebody has written to since it was put there comes back into the mirror as a conflict copy; what somebody
    /// is writing stays.
    func emptyOldTrash() throws {
        guard let area, configuration.trashDays > 0 else { return }
        let now = surroundings.uptime()
        if let last = lastTrashLook, now - last < Self.trashInterval { return }
        lastTrashLook = now
        lastTrashDate = nil
        let date = WallClock.day(surroundings.disk.now())
        let days = try area.trash.days()
        var ledger = TrashLedger(try store.meta(.trash))
        let known = ledger
        ledger.note(date, days: days)
        if ledger != known { try store.setMeta(.trash, ledger.text) }
        for day in days where day != date && ledger.age(of: day) > configuration.trashDays {
            if displaced.contains(where: { LocalPath.isWithin($0.trashPath, day) }) { continue }
            do {
                try area.trash.empty(day) { folder, file, path in try keep(file, in: folder, of: day, path) }
            } catch let error as FileError {
                tally.noteOnce(
                    SyncEvent(.problem, message: "the trash of \(day) cannot be emptied: \(error.description)"))
            }
        }
    }

    /// Whether a file in the trash is not to go, or has gone elsewhere.
    private func keep(_ file: DiskEntry, in folder: any DiskFolder, of day: String, _ path: String) throws -> Bool {
        guard file.kind == .file else { return false }
        if let open = try? folder.open(file.name), open.isBeingWritten { return true }
        guard try isWrittenLate(file, in: folder, day) else { return false }
        try giveBack(file.name, from: folder, path)
        return true
    }

    /// Whether the last that has happened to a file in the trash is that somebody wrote to it.
    ///
    /// A rename stamps the file but not its content. Where it does not, a write must be younger than the folder or the
    /// day, so that a file that was never touched again is never taken for one that was.
    private func isWrittenLate(_ file: DiskEntry, in folder: any DiskFolder, _ day: String) throws -> Bool {
        let look = file.look.fingerprint
        guard look.modified == look.changed else { return false }
        return try WallClock.day(look.modified) > day || look.modified > folder.look().fingerprint.modified
    }

    /// Brings a file from the trash back as a conflict copy, into its old folder or the nearest that is left of it.
    private func giveBack(_ name: String, from trash: any DiskFolder, _ path: String) throws {
        let hash = try Scanner.hash(trash.open(name))
        var (home, parent) = (root, ItemID.root)
        var shown = ""
        for part in LocalPath.split(path).parent.utf8.split(separator: UInt8(ascii: "/")) {
            let name = EntryName(String(Substring(part)))
            let next = try store.children(of: parent, key: name.key, on: .local).first { $0.local?.place.name == name }
            guard let next, next.isFolder, let open = try folder(next.id) else { break }
            (home, parent) = (open, next.id)
            shown = LocalPath.join(shown, name.text)
        }
        let copy = try Self.rename(name, in: trash, besides: home, hash)
        suspects.insert(parent)
        try log(.conflict, LocalPath.join(shown, copy), "written to after it was put into the trash; it is kept")
    }

    /// Gives a file a conflict name in another folder, and tells it.
    private static func rename(
        _ name: String, in folder: any DiskFolder, besides home: any DiskFolder, _ hash: ContentHash
    ) throws(FileError) -> String {
        var number = 1
        while true {
            let copy = ConflictName.name(for: name, loser: hash, number: number)
            do throws(FileError) {
                try folder.rename(name, to: home, copy, .withoutReplacing)
                try home.sync()
                return copy
            } catch {
                guard error.code == EEXIST else { throw error }
                number += 1
            }
        }
    }
}
