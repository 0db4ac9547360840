/// The results of a scan.
struct ScanReport: Hashable, Sendable {
    /// Items that are new.
    var created = 0
    /// Items that are at another location.
    var moved = 0
    /// Files whose content may have changed.
    var edited = 0
    /// Items that are gone for good, those in folders included.
    var deleted = 0
    /// Bytes of the files that are new or may have changed.
    var bytes: Int64 = 0
    /// Folders that were scanned.
    var folders = 0
    /// Those of them that were listed, since their fingerprints had changed or were unknown.
    var listed = 0
    /// Paths with which something is wrong, in this part of the mirror or another.
    var problems = 0
    /// Whether all folders of the scope could be scanned.
    var isComplete = true
    /// Whether something became unreadable: missing items may be in it.
    var isUnsure = false
    /// Items that are no longer where they were and have not been found elsewhere, in the order of their identities.
    ///
    /// The tree still has them.
    var vanished: [ItemID] = []
    /// Folders whose fingerprint cannot be trusted yet, since something in them changed just now.
    var racyFolders: Set<ItemID> = []
    /// Racy files that were scanned by themselves.
    var racyFiles: ClosedFiles = [:]

    /// Whether anything may have become unsettled, or a problem must be reported.
    var hasChanges = false

    /// Items of which the tree now says something else.
    var changes: Int { created + moved + edited + deleted }
}
