/// What part of a mirror is to be scanned.
enum ScanScope: Hashable, Sendable {
    /// All folders.
    case everything
    /// These folders, but not those in them unless they are new or have been moved.
    case folders(Set<ItemID>)
}
