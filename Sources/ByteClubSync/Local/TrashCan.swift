import ByteClubCore
import Glibc

/// The mirror's trash with its rules: what is put there, when it goes, and what comes back since somebody wrote to it.
final class TrashCan {
    /// A file that was replaced or deleted and whose writer may still hold it open.
    private struct Displaced {
        let item: ItemID
        let trashPath: String
        let path: String
        let look: DiskLook
        let until: SyncInstant
    }

    /// How often the trash is looked through for what is too old.
    private static let expiryInterval = Duration.seconds(6 * 3_600)
    /// For how long a file that was displaced is watched for late writes.
    private static let lateWriteWindow = Duration.seconds(600)

    private let context: SyncContext
    private let control: ControlDirectory
    private var displaced: [Displaced] = []
    private var lastLateCheck: SyncInstant?
    private var lastExpiry: SyncInstant?
    /// The date under which something was put into the trash since then; nil before the first.
    private var lastDate: String?

    init(_ context: SyncContext, _ control: ControlDirectory) {
        self.context = context
        self.control = control
    }

    /// Puts an entry into the trash of today, under a path of its own or one like it.
    ///
    /// - Returns: The path in the trash.
    @discardableResult
    func take(_ name: String, from folder: any DiskFolder, as path: String) throws(FileError) -> String {
        let now = context.environment.disk.now()
        let date = WallClock.day(now)
        if date != lastDate {
            // Without it the day counts from the next expiry, which is later.
            try? note(date)
            lastDate = date
        }
        return try control.trash.take(name, from: folder, as: path, at: now)
    }

    /// Puts a file from staging into the trash, and remembers it as long as its writers may still hold it open.
    func take(staged name: String, of item: ItemID, as path: String) throws(FileError) {
        let place = try take(name, from: control.staging, as: path)
        guard let (folder, last) = control.trash.find(place), let look = try folder.entry(last)?.look else { return }
        let until = context.environment.clock.now + Self.lateWriteWindow
        displaced.append(Displaced(item: item, trashPath: place, path: path, look: look, until: until))
    }

    private func note(_ date: String) throws {
        var ledger = try TrashLedger(context.store)
        ledger.renew(date)
        try ledger.save(in: context.store)
    }

    // MARK: Late writes

    /// Looks at files in the trash whose writers may still have written to them; what was written stands beside the new
    /// content as a conflict copy.
    func catchLateWrites(_ report: inout SyncReport) throws {
        if displaced.isEmpty { return }
        let now = context.environment.clock.now
        // A few are looked at each time, many once a second.
        if displaced.count > 16, let last = lastLateCheck, now - last < .seconds(1) { return }
        lastLateCheck = now
        var rest: [Displaced] = []
        var folders: [String: any DiskFolder] = [:]
        for file in displaced {
            let (parent, name) = LocalPath.split(file.trashPath)
            guard let folder = folders[parent] ?? control.trash.find(file.trashPath)?.folder else { continue }
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
            try restoreLate(file, folder, name, &report)
        }
        displaced = rest
    }

    private func restoreLate(
        _ file: Displaced, _ trash: any DiskFolder, _ name: String, _ report: inout SyncReport
    ) throws {
        let item = try context.store.item(file.item)
        let home = try home(in: item?.local?.place.parent ?? item?.synced?.place.parent ?? .root, &report)
        let stage = StagedName.leaving(file.item, expected: nil).text
        try trash.rename(name, to: control.staging, stage, .withoutReplacing)
        _ = try control.staging.moveBeside(stage, LocalPath.split(file.path).name, in: home.folder)
        report.rescans.insert(home.id)
        try context.log(.conflict, file.path, "written to after it was replaced; the text is kept beside it")
    }

    /// Where what was in a folder goes back to: the folder, or the root when it is gone.
    func home(in parent: ItemID, _ report: inout SyncReport) throws -> (id: ItemID, folder: any DiskFolder) {
        try context.handles.folder(parent, &report).map { (parent, $0) } ?? (.root, context.root)
    }

    // MARK: Expiry

    /// Empties the trash of days that are older than it is to be kept, counted in days on which the mirror was synced.
    ///
    /// What somebody has written to since it was put there comes back into the mirror as a conflict copy; what somebody
    /// is writing stays.
    func expire(_ report: inout SyncReport) throws {
        guard context.configuration.trashDays > 0 else { return }
        let now = context.environment.clock.now
        if let last = lastExpiry, now - last < Self.expiryInterval { return }
        lastExpiry = now
        lastDate = nil
        let date = WallClock.day(context.environment.disk.now())
        let days = try control.trash.days()
        var ledger = try TrashLedger(context.store)
        ledger.note(date, days: days)
        try context.store.transaction(durably: false) { try ledger.save(in: context.store) }
        for day in days where day != date && ledger.age(of: day) > context.configuration.trashDays {
            if displaced.contains(where: { LocalPath.isWithin($0.trashPath, day) }) { continue }
            do {
                try control.trash.empty(day) { folder, file, path in
                    try keeps(file, in: folder, of: day, path, &report)
                }
            } catch let error as FileError {
                report.emitOnce(
                    SyncEvent(.problem, message: "the trash of \(day) cannot be emptied: \(error.description)"))
            }
        }
    }

    /// Whether a file in the trash is not to go, or has gone elsewhere.
    private func keeps(
        _ file: DiskEntry, in folder: any DiskFolder, of day: String, _ path: String, _ report: inout SyncReport
    ) throws -> Bool {
        guard file.kind == .file else { return false }
        if let open = try? folder.open(file.name), open.isBeingWritten { return true }
        guard try isWrittenLate(file, in: folder, day) else { return false }
        try restore(file.name, from: folder, path, &report)
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
    private func restore(
        _ name: String, from trash: any DiskFolder, _ path: String, _ report: inout SyncReport
    ) throws {
        var (home, parent) = (context.root, ItemID.root)
        var shown = ""
        for part in LocalPath.split(path).parent.utf8.split(separator: UInt8(ascii: "/")) {
            let name = EntryName(String(Substring(part)))
            let next = try context.store.children(of: parent, key: name.key, on: .local).first {
                $0.local?.place.name == name
            }
            guard let next, next.isFolder, let open = try context.handles.folder(next.id, &report) else { break }
            (home, parent) = (open, next.id)
            shown = LocalPath.join(shown, name.text)
        }
        let copy = try trash.moveBeside(name, name, in: home)
        report.rescans.insert(parent)
        try context.log(
            .conflict, LocalPath.join(shown, copy), "written to after it was put into the trash; it is kept")
    }
}
