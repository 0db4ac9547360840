/// Accumulated events of a watcher; they are hints, verified by scans.
struct DiskChange: Hashable, Sendable {
    /// Folders in which a folder was made or moved in: to be scanned now.
    var finished: Set<ItemID> = []
    /// Files that were closed after a write, or moved in: to be scanned now.
    var closed: ClosedFiles = [:]
    /// Folders in which something else has happened, of which more may follow.
    var begun: Set<ItemID> = []
    /// Whether events were lost, so that anything may have changed.
    var isLost = false
    /// Whether the lock file was touched, which asks the engine to read its settings.
    var isNudge = false

    /// How many names and folders are told at once; of more, it is told that anything may have changed.
    static let mostTold = 4_096

    /// Adds what has happened after it; names mean nothing where anything may have changed.
    mutating func add(_ later: DiskChange) {
        isLost = isLost || later.isLost
        isNudge = isNudge || later.isNudge
        if !isLost {
            finished.formUnion(later.finished)
            begun.formUnion(later.begun)
            for (folder, names) in later.closed { closed[folder, default: []].formUnion(names) }
            isLost = closed.values.reduce(finished.count + begun.count) { $0 + $1.count } > Self.mostTold
        }
        if isLost { (finished, begun, closed) = ([], [], [:]) }
    }

    /// Whether no scan is due before the disk has settled.
    var isOnlyBegun: Bool { closed.isEmpty && finished.isEmpty && !isLost && !isNudge }
}

/// Watches the mirror's folders and posts changes to the session's inbox.
protocol FolderWatcher: AnyObject, Sendable {
    /// Watches a folder, before it is scanned.
    ///
    /// `isNew` says that it may be another folder than the one that was watched for the item.
    func add(_ folder: any DiskFolder, _ item: ItemID, isNew: Bool)
    /// Stops watching folders that have left the mirror.
    func remove(_ items: [ItemID])
    /// Those of some folders that cannot be watched.
    func unwatched(of folders: Set<ItemID>) -> Set<ItemID>
    /// Why changes may be noticed late, and what to do about it, as one line for people; nil while all folders are
    /// watched.
    var problem: String? { get }
}
