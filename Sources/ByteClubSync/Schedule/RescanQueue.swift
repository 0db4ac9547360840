/// Files that were just closed after a write, or moved somewhere: names on disk, by the folder.
typealias ClosedFiles = [ItemID: Set<EntryName>]

/// A scan to do.
enum ScanRequest: Hashable, Sendable {
    /// Single files that were just closed after a write.
    case files(ClosedFiles)
    /// These folders, but not those in them unless they are new or have been moved.
    case folders(Set<ItemID>)
    /// All folders; with `confirmsDeletions`, missing items that are found nowhere count as deleted.
    case everything(confirmsDeletions: Bool)

    /// The folders that it reads, or whose files; nil for all.
    var folders: Set<ItemID>? {
        switch self {
        case .files(let closed): Set(closed.keys)
        case .folders(let folders): folders
        case .everything: nil
        }
    }
}

/// The folders that a scan reads.
enum ScanScope: Hashable, Sendable {
    /// All folders.
    case everything
    /// These folders, but not those in them unless they are new or have been moved.
    case folders(Set<ItemID>)
}

/// The queue of scans, each with its time.
///
/// It also has the items that are missing where the tree has them: nothing is decided about them before a complete full
/// scan has shown whether they were moved or deleted (invariant I8).
struct RescanQueue: Sendable {
    /// How long the disk must be unchanged before it counts as settled (debounce).
    static let debounce = Duration.milliseconds(200)
    /// How often a complete scan is repeated at once when it leaves items missing.
    private static let mostRepeats = 3
    private static let repeatDelay = Duration.milliseconds(210)
    /// How long other scans wait for files that were just closed, which may be saved without end.
    private static let patience = Duration.seconds(1)
    /// From how many racy files on their folder is scanned instead.
    private static let mostRacyFiles = 256

    private var files: ClosedFiles = [:]
    private var folders: [ItemID: SyncInstant] = [:]
    /// The folders that the user has changed, unlike those that the engine's own work has found changed.
    private var changed: Set<ItemID> = []
    /// Racy folders: they changed so recently that their times may not show the next change.
    private var racyFolders: [ItemID: SyncInstant] = [:]
    /// Racy files, and when the first of them is scanned again.
    private var racyFiles: ClosedFiles = [:]
    private var racyFilesAt: SyncInstant?
    private var everything: SyncInstant?
    /// Items that are not where the tree has them and may turn up elsewhere.
    private(set) var missing: Set<ItemID> = []
    /// When the next full scan for the missing items is due; nil when none are missing.
    private(set) var missingDeadline: SyncInstant?
    private var repeats = 0
    /// Folders whose listing differed from the tree when the engine worked in them: after their scan it plans again.
    private var awaited: Set<ItemID> = []
    private var lastDiskChange: SyncInstant?

    /// Requests scans of the changes that the watcher has reported.
    mutating func add(_ change: DiskChange, at now: SyncInstant) {
        if change.isLost { addEverything(at: now) }
        add(change.closed)
        add(change.finished, at: now)
        add(change.begun, at: now + Self.debounce)
        // A check reads new rules; this scan wakes the loop for one, also when the change arrives during a step.
        if change.isLost || change.closed[.root]?.contains(EntryName(IgnoreRules.fileName)) ?? false {
            add([.root], at: now + Self.debounce)
        }
        if change.isLost || !change.finished.isEmpty || !change.begun.isEmpty { lastDiskChange = now }
    }

    /// Whether the disk changed within the debounce interval, so that more changes are likely.
    func isUnsettled(at now: SyncInstant) -> Bool { lastDiskChange.map { now - $0 < Self.debounce } ?? false }

    /// When the disk counts as settled if nothing else changes; nil when nothing has changed yet.
    var settled: SyncInstant? { lastDiskChange.map { $0 + Self.debounce } }

    /// Requests a scan of files at once.
    mutating func add(_ closed: ClosedFiles) { files.merge(closed) { $0.union($1) } }

    /// Requests a scan of folders in which something has changed; the earliest moment counts.
    mutating func add(_ more: Set<ItemID>, at time: SyncInstant) {
        changed.formUnion(more)
        again(more, at: time)
    }

    /// Requests another scan of folders that the engine's own work has found different from the tree.
    mutating func again(_ more: Set<ItemID>, at time: SyncInstant) {
        for folder in more { folders[folder] = min(folders[folder] ?? time, time) }
    }

    /// Has the work in these folders, which failed because of the disk, planned again after their next scan.
    mutating func awaitScan(of folders: Set<ItemID>) { awaited.formUnion(folders) }

    /// Whether work was waiting for a scan that has ended.
    mutating func endAwaited(_ request: ScanRequest) -> Bool {
        switch request {
        case .files: return false
        case .folders(let scanned):
            defer { awaited.subtract(scanned) }
            return !awaited.isDisjoint(with: scanned)
        case .everything:
            awaited = []
            return true
        }
    }

    /// Requests another scan of folders that changed within the last moments; the last moment counts.
    mutating func addRacy(_ more: Set<ItemID>, at time: SyncInstant) {
        for folder in more { racyFolders[folder] = time }
    }

    /// Requests another scan of files that changed within the last moments; the first moment counts.
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

    /// Requests a full scan; the earliest moment counts.
    mutating func addEverything(at time: SyncInstant) { everything = min(everything ?? time, time) }

    /// The scan that is due; nil when none is.
    ///
    /// While the disk is settling, no deletion is confirmed.
    func next(at now: SyncInstant, isSettling: Bool) -> ScanRequest? {
        let isDue = { (time: SyncInstant) in time + (files.isEmpty ? .zero : Self.patience) <= now }
        if let everything, isDue(everything) { return .everything(confirmsDeletions: !isSettling) }
        if !isSettling, let missingDeadline, isDue(missingDeadline) { return .everything(confirmsDeletions: true) }
        let due = [folders, racyFolders].flatMap { $0.filter { isDue($0.value) }.keys }
        if !due.isEmpty { return .folders(Set(due)) }
        let again = racyFilesAt.map { $0 <= now } ?? false ? racyFiles : [:]
        return files.isEmpty && again.isEmpty ? nil : .files(files.merging(again) { $0.union($1) })
    }

    /// When the next requested scan is due; nil when none was requested.
    var deadline: SyncInstant? {
        [everything, folders.values.min(), racyFolders.values.min(), racyFilesAt].compactMap(\.self).min()
    }

    /// Notes that a scan begins: a change after this needs another scan.
    ///
    /// - Returns: The folders that are only scanned again because they were racy, and the folders that the user has
    ///   changed.
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
            (missingDeadline, repeats) = (nil, 0)
        } else if repeats == 0 {
            missingDeadline = min(missingDeadline ?? now, now)
        } else {
            missingDeadline = repeats < Self.mostRepeats ? now + Self.repeatDelay : now + .seconds(60)
        }
    }

    /// Enqueues a failed scan again.
    mutating func putBack(_ request: ScanRequest, at time: SyncInstant) {
        if let folders = request.folders { add(folders, at: time) } else { addEverything(at: time) }
    }
}
