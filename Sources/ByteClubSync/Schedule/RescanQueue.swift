/// Files that were just closed after a write, or moved somewhere: names on disk, by the folder.
typealias ClosedFiles = [ItemID: Set<EntryName>]

/// A scan to do.
enum ScanRequest: Hashable, Sendable {
    /// Single files that were just closed after a write.
    case files(ClosedFiles)
    /// These folders, but not those in them unless they are new or have been moved.
    case folders(Set<ItemID>)
    /// All folders; with `confirmsDeletions`, missing items that are found nowhere are taken to be deleted.
    case everything(confirmsDeletions: Bool)
}

/// The queue of scans: what is to be scanned, and when.
///
/// It also has the items that are missing where the tree has them: nothing is decided about them before a complete full
/// scan has shown whether they were moved or deleted (invariant I8).
struct RescanQueue: Sendable {
    /// How often a complete scan is repeated at once when it leaves items missing.
    private static let mostRepeats = 3
    private static let repeatDelay = Duration.milliseconds(210)
    /// How long other scans wait for files that were just closed; without end, those would put them off for ever.
    private static let patience = Duration.seconds(1)
    /// Of how many racy files the folder is scanned again instead.
    private static let mostRacyFiles = 256

    private var files: ClosedFiles = [:]
    private var folders: [ItemID: SyncInstant] = [:]
    /// The folders in which somebody has changed something, unlike those that the engine's own work has found changed.
    private var changed: Set<ItemID> = []
    /// Racy folders: they changed so recently that their times may not show the next change.
    private var racyFolders: [ItemID: SyncInstant] = [:]
    /// Racy files, and when the first of them is scanned again.
    private var racyFiles: ClosedFiles = [:]
    private var racyFilesAt: SyncInstant?
    private var everything: SyncInstant?
    /// Items that are not where the tree has them and may turn up elsewhere.
    private(set) var missing: Set<ItemID> = []
    private var missingSince: SyncInstant?
    private var repeats = 0

    /// Asks for a scan of files at once.
    mutating func add(_ closed: ClosedFiles) { files.merge(closed) { $0.union($1) } }

    /// Asks for a scan of folders in which something has changed; the earliest moment counts.
    mutating func add(_ more: Set<ItemID>, at time: SyncInstant) {
        changed.formUnion(more)
        again(more, at: time)
    }

    /// Asks for another scan of folders that the engine's own work has found other than the tree.
    mutating func again(_ more: Set<ItemID>, at time: SyncInstant) {
        for folder in more { folders[folder] = min(folders[folder] ?? time, time) }
    }

    /// Asks for another scan of folders that changed within the last moments; the last moment counts.
    mutating func addRacy(_ more: Set<ItemID>, at time: SyncInstant) {
        for folder in more { racyFolders[folder] = time }
    }

    /// Asks for another scan of files that changed within the last moments; the first moment counts.
    mutating func addRacy(_ more: ClosedFiles, at time: SyncInstant) {
        for (folder, names) in more {
            if names.count > Self.mostRacyFiles {
                racyFolders[folder] = time
            } else {
                racyFiles[folder, default: []].formUnion(names)
                racyFilesAt = racyFilesAt ?? time
            }
        }
    }

    /// Asks for a full scan; the earliest moment counts.
    mutating func addEverything(at time: SyncInstant) { everything = min(everything ?? time, time) }

    /// Forgets the scans that were asked for.
    mutating func removeAll() {
        (files, folders, changed) = ([:], [:], [])
        (racyFolders, racyFiles, racyFilesAt, everything) = ([:], [:], nil, nil)
    }

    /// What is due; nil when nothing is.
    ///
    /// While the disk is settling, no deletion is confirmed.
    func next(at now: SyncInstant, isSettling: Bool) -> ScanRequest? {
        let isDue = { (time: SyncInstant) in time + (files.isEmpty ? .zero : Self.patience) <= now }
        if let everything, isDue(everything) { return .everything(confirmsDeletions: !isSettling) }
        if !isSettling, let missingSince, isDue(missingSince) { return .everything(confirmsDeletions: true) }
        let due = [folders, racyFolders].flatMap { $0.filter { isDue($0.value) }.keys }
        if !due.isEmpty { return .folders(Set(due)) }
        let again = racyFilesAt.map { $0 <= now } ?? false ? racyFiles : [:]
        return files.isEmpty && again.isEmpty ? nil : .files(files.merging(again) { $0.union($1) })
    }

    /// When a scan is due next that was asked for; nil when none was.
    var deadline: SyncInstant? {
        [everything, folders.values.min(), racyFolders.values.min(), racyFilesAt].compactMap(\.self).min()
    }

    /// When the next full scan for the missing items is due; nil when none are missing.
    var missingDeadline: SyncInstant? { missingSince }

    /// Notes that a scan has begun: what is asked for from now on needs another one.
    ///
    /// - Returns: The folders that are only scanned again because they were racy, and those in which somebody has
    ///   changed something.
    @discardableResult
    mutating func begin(_ request: ScanRequest, at now: SyncInstant) -> (again: Set<ItemID>, changed: Set<ItemID>) {
        switch request {
        case .files(let scanned):
            defer { files = [:] }
            for (folder, names) in scanned { racyFiles[folder]?.subtract(names) }
            racyFiles = racyFiles.filter { !$0.value.isEmpty }
            if racyFiles.isEmpty { racyFilesAt = nil }
            return ([], Set(files.keys))
        case .folders(let scanned):
            let again = scanned.filter { racyFolders[$0].map { $0 <= now } ?? false && folders[$0] == nil }
            for folder in scanned { (folders[folder], racyFolders[folder]) = (nil, nil) }
            defer { changed.subtract(scanned) }
            return (again, changed.intersection(scanned))
        case .everything:
            everything = nil
            folders = folders.filter { $0.value > now }
            racyFolders = racyFolders.filter { $0.value > now }
            defer { changed = changed.filter { folders[$0] != nil } }
            return ([], changed.filter { folders[$0] == nil })
        }
    }

    /// Records the items that a scan did not find.
    mutating func end(_ request: ScanRequest, vanished: [ItemID], at now: SyncInstant) {
        if case .everything(let confirms) = request {
            missing = Set(vanished)
            repeats = confirms ? repeats + 1 : repeats
        } else {
            missing.formUnion(vanished)
            if !vanished.isEmpty { repeats = 0 }
        }
        if missing.isEmpty {
            (missingSince, repeats) = (nil, 0)
        } else if repeats == 0 {
            missingSince = min(missingSince ?? now, now)
        } else {
            missingSince = repeats < Self.mostRepeats ? now + Self.repeatDelay : now + .seconds(60)
        }
    }

    /// Enqueues a failed scan again.
    mutating func putBack(_ request: ScanRequest, at time: SyncInstant) {
        switch request {
        case .files(let closed): add(Set(closed.keys), at: time)
        case .folders(let scanned): add(scanned, at: time)
        case .everything: addEverything(at: time)
        }
    }
}
