import ByteClubCore
import Glibc

/// The mirror's trash: moves entries there, expires them, and restores files that were written after they were trashed.
final class TrashCan {
    /// A replaced or deleted file that a writer may still have open.
    private struct Displaced {
        let item: ItemID
        let trashPath: String
        let path: String
        let stat: FileStat
        let since: SyncInstant
        /// When it is checked next: an old one is checked less often than a young one.
        var due: SyncInstant

        var until: SyncInstant { since + TrashCan.lateWriteWindow }
    }

    /// How often the trash is checked for expired days.
    private static let expiryInterval = Duration.seconds(6 * 3_600)
    /// For how long a file that was displaced is watched for late writes.
    private static let lateWriteWindow = Duration.seconds(600)
    /// How long after it was displaced a file is first checked.
    private static let firstLateCheck = Duration.seconds(1)

    private let context: SyncContext
    private let control: ControlDirectory
    private var displaced: [Displaced] = []
    /// When the first of them is due.
    private var nextDue: SyncInstant?
    private var lastLateCheck: SyncInstant?
    private var lastExpiry: SyncInstant?
    /// The date of the last trashed file; nil before the first.
    private var lastDate: String?

    init(_ context: SyncContext, _ control: ControlDirectory) {
        self.context = context
        self.control = control
    }

    /// Moves an entry to today's trash under its path, with a number appended if that exists.
    ///
    /// - Returns: The path in the trash.
    @discardableResult
    func take(_ name: String, from folder: any DiskFolder, as path: String) throws(FileError) -> String {
        let now = context.environment.disk.now()
        let date = WallClock.day(now)
        if date != lastDate {
            // Best effort: without it, the day's age counts from the next expiry.
            try? note(date)
            lastDate = date
        }
        return try control.trash.take(name, from: folder, as: path, at: now)
    }

    /// Moves a file from staging to the trash, and watches it for late writes.
    func take(staged name: String, of item: ItemID, as path: String) throws(FileError) {
        let location = try take(name, from: control.staging, as: path)
        guard let (folder, last) = control.trash.find(location), let stat = try folder.entry(last)?.stat else { return }
        let now = context.environment.clock.now
        let due = now + Self.firstLateCheck
        displaced.append(
            Displaced(item: item, trashPath: location, path: path, stat: stat, since: now, due: due))
        nextDue = min(nextDue ?? due, due)
    }

    private func note(_ date: String) throws {
        var ledger = try TrashLedger(context.store)
        ledger.renew(date)
        try ledger.save(in: context.store)
    }

    // MARK: Late writes

    /// When displaced files are checked next: a few when they are due, many at most once a second; nil without any.
    var nextLateCheck: SyncInstant? {
        guard let nextDue, displaced.count > 16, let lastLateCheck else { return nextDue }
        return max(nextDue, lastLateCheck + .seconds(1))
    }

    /// Checks the displaced files that are due, or for the last time all of them, for late writes; a written one becomes
    /// a conflict copy beside the new content.
    ///
    /// - Throws: ``FileError`` and the store's errors.
    func catchLateWrites(isLast: Bool = false, _ report: inout SyncReport) throws {
        let now = context.environment.clock.now
        guard let next = nextLateCheck, isLast || next <= now else { return }
        lastLateCheck = now
        var rest: [Displaced] = []
        var folders: [[UInt8]: any DiskFolder] = [:]
        for var file in displaced {
            if file.due > now, !isLast {
                rest.append(file)
                continue
            }
            let isOver = file.until <= now
            file.due = isOver ? now + Self.lateWriteWindow : min(now + (now - file.since), file.until)
            do {
                if try isWatchedFurther(file, isOver: isOver, &folders, &report) { rest.append(file) }
            } catch is FileError {
                // One that cannot be read or restored keeps no other from its check.
                rest.append(file)
            }
        }
        displaced = rest
        nextDue = rest.lazy.map(\.due).min()
    }

    /// Checks a displaced file, and restores it when it was written; returns whether it is to be checked again.
    private func isWatchedFurther(
        _ file: Displaced, isOver: Bool, _ folders: inout [[UInt8]: any DiskFolder], _ report: inout SyncReport
    ) throws -> Bool {
        let (parent, name) = LocalPath.split(file.trashPath)
        let key = Array(parent.utf8)
        guard let folder = folders[key] ?? control.trash.find(file.trashPath)?.folder else { return false }
        if folders.count >= 64 { folders = [:] }
        folders[key] = folder
        guard let there = try folder.entry(name) else { return false }
        let isWritten =
            there.stat.fingerprint.modified != file.stat.fingerprint.modified
            || there.stat.fingerprint.size != file.stat.fingerprint.size
        if !isWritten { return !isOver }
        if let open = try? folder.open(name), open.isBeingWritten { return true }
        try restoreLate(file, folder, name, &report)
        return false
    }

    private func restoreLate(
        _ file: Displaced, _ trash: any DiskFolder, _ name: String, _ report: inout SyncReport
    ) throws {
        let item = try context.store.item(file.item)
        let home = try home(in: item?.local?.location.parent ?? item?.synced?.location.parent ?? .root, &report)
        // By one rename, so that the trash shows that it was written as long as it is there.
        _ = try trash.moveBeside(name, LocalPath.split(file.path).name, in: home.folder, context.naming)
        report.rescans.insert(home.id)
        try context.log(.conflict, file.path, "changed after it was replaced; the text is kept beside it")
    }

    /// The folder to restore an entry to: its own, or the root when that no longer exists.
    func home(in parent: ItemID, _ report: inout SyncReport) throws -> (id: ItemID, folder: any DiskFolder) {
        try context.handles.folder(parent, &report).map { (parent, $0) } ?? (.root, context.root)
    }

    // MARK: Expiry

    /// Removes expired days from the trash; their age is counted in days on which the mirror was synced.
    ///
    /// A file that was written after it was trashed is restored as a conflict copy; one that is being written stays.
    ///
    /// - Throws: ``FileError`` and the store's errors.
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

    /// Whether a file in the trash must stay, or was moved elsewhere.
    private func keeps(
        _ file: DiskEntry, in folder: any DiskFolder, of day: String, _ path: String, _ report: inout SyncReport
    ) throws -> Bool {
        guard file.kind == .file else { return false }
        if let open = try? folder.open(file.name), open.isBeingWritten { return true }
        guard try isWrittenLate(file, in: folder, day) else { return false }
        try restore(file.name, from: folder, path, &report)
        return true
    }

    /// Whether the last change of a file in the trash was a write.
    ///
    /// A rename sets the change time but not the modification time. On file systems where it does not, the modification
    /// time must be later than the folder's or the day's, so that an untouched file never counts as written.
    private func isWrittenLate(_ file: DiskEntry, in folder: any DiskFolder, _ day: String) throws -> Bool {
        let stat = file.stat.fingerprint
        // Where the change time is none of its own, a file may have brought a date of the future.
        guard stat.modified == stat.changed, stat.modified <= context.environment.disk.now() else { return false }
        return try WallClock.day(stat.modified) > day || stat.modified > folder.stat().fingerprint.modified
    }

    /// Restores a file from the trash as a conflict copy, into its old folder or the nearest existing ancestor.
    private func restore(
        _ name: String, from trash: any DiskFolder, _ path: String, _ report: inout SyncReport
    ) throws {
        var (home, parent) = (context.root, ItemID.root)
        var shown = ""
        for part in LocalPath.split(path).parent.utf8.split(separator: UInt8(ascii: "/")) {
            let name = EntryName(String(Substring(part)))
            let next = try context.store.children(of: parent, key: name.key, on: .local).first {
                $0.local?.location.name == name
            }
            guard let next, next.isFolder, let open = try context.handles.folder(next.id, &report) else { break }
            (home, parent) = (open, next.id)
            shown = LocalPath.join(shown, name.text)
        }
        let copy = try trash.moveBeside(name, name, in: home, context.naming)
        report.rescans.insert(parent)
        try context.log(
            .conflict, LocalPath.join(shown, copy), "changed after it was moved to the trash; it is kept")
    }
}

/// The age of the trash in days on which the mirror was synced, which a wrong clock cannot advance.
///
/// Each date of maintenance counts once, however often the clock returns to it. A day of the trash ages from the last
/// date on which something was added to it.
struct TrashLedger: Hashable, Sendable {
    /// A day of the trash, with the number of counted dates when something was last added to it, or it was first seen.
    struct Day: Hashable, Sendable {
        let day: String
        let born: Int64
    }

    /// A counted date, with its number.
    struct SyncDate: Hashable, Sendable {
        let number: Int64
        let date: String
    }

    /// How many dates are remembered, so that none of them counts twice.
    private static let maximumDates = 400

    /// The last counted dates, in their order.
    private(set) var dates: [SyncDate]
    private var births: [String: Int64]

    /// How many dates have counted.
    var count: Int64 { dates.last?.number ?? 0 }
    /// The days of the trash, in their order.
    var days: [Day] { births.sorted { $0.key < $1.key }.map { Day(day: $0.key, born: $0.value) } }

    init(dates: [SyncDate] = [], days: [Day] = []) {
        self.dates = dates
        births = Dictionary(days.map { ($0.day, $0.born) }, uniquingKeysWith: { $1 })
    }

    /// Reads it from the database.
    init(_ store: any TreeStore) throws {
        self.init(dates: try store.records(SyncDate.self), days: try store.records(Day.self))
    }

    /// Saves it in the database.
    func save(in store: any TreeStore) throws {
        try store.replace(dates)
        try store.replace(days)
    }

    /// Counts a date of maintenance, and registers the days of the trash.
    mutating func note(_ date: String, days: [String]) {
        if !dates.contains(where: { $0.date == date }) {
            dates = dates.suffix(Self.maximumDates - 1) + [SyncDate(number: count + 1, date: date)]
        }
        births = births.filter { days.contains($0.key) }
        for day in days where births[day] == nil || day == date { births[day] = count }
    }

    /// Notes that something is about to be put into the trash of a day.
    mutating func renew(_ day: String) { births[day] = count }

    /// The number of counted dates since something was last added to the trash of a day.
    func age(of day: String) -> Int64 { max(0, count - (births[day] ?? count)) }
}
