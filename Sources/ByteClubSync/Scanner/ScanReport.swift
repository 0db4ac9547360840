/// What a scan has found.
struct ScanReport: Hashable, Sendable {
    /// Items that are new.
    var created = 0
    /// Items that are at another place.
    var moved = 0
    /// Files whose content may have changed.
    var edited = 0
    /// Items that are gone for good, those in folders included.
    var deleted = 0
    /// Bytes of the files that are new or may have changed.
    var bytes: Int64 = 0
    /// Folders that were looked at.
    var folders = 0
    /// Those of them that were listed, since a look at their seals did not do.
    var listed = 0
    /// Paths with which something is wrong, in this part of the mirror or another.
    var problems = 0
    /// Whether all folders of the scope could be looked at.
    var isComplete = true
    /// Whether something could not be looked at that could be before: what is missing may be there.
    var isUnsure = false
    /// Items that are no longer where they were and have not been found elsewhere, in the order of their identities.
    ///
    /// The tree still has them.
    var vanished: [ItemID] = []
    /// Folders that cannot be trusted yet, since something in them changed within the last moments.
    var restless: Set<ItemID> = []

    /// Whether something may have to be decided that did not before, or people told of it.
    var hasChanges = false

    /// Items of which the tree now says something else.
    var changes: Int { created + moved + edited + deleted }
}
