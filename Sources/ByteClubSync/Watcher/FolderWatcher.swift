/// What some events of a watcher say; they are hints and never truth.
struct DiskChange: Hashable, Sendable {
    /// Folders in which a folder was made or moved in: to be scanned now.
    var finished: Set<ItemID> = []
    /// Files that were closed after a write, or moved in: to be scanned now.
    var closed: ClosedFiles = [:]
    /// Folders in which something else has happened, of which more may follow.
    var begun: Set<ItemID> = []
    /// Whether events were lost, so that anything may have changed.
    var isLost = false
    /// Whether somebody touched the file that asks for attention.
    var isNudge = false

    /// Whether nothing is to be scanned before the disk has settled.
    var isOnlyBegun: Bool { closed.isEmpty && finished.isEmpty && !isLost && !isNudge }
}

/// Watches the mirror's folders; what it sees is posted to the session's inbox.
protocol FolderWatcher: AnyObject, Sendable {
    /// Watches a folder, before it is scanned.
    ///
    /// `isNew` tells that it may be another folder than the one that was watched for the item.
    func add(_ folder: any DiskFolder, _ item: ItemID, isNew: Bool)
    /// Watches folders no longer that have left the mirror.
    func remove(_ items: [ItemID])
    /// Those of some folders that cannot be watched.
    func unwatched(of folders: Set<ItemID>) -> Set<ItemID>
    /// Why changes may be noticed late, and what to do about it, as one line for people; nil while all folders are watched.
    var trouble: String? { get }
}
