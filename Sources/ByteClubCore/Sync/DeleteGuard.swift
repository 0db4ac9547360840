/// When deletions are too many to be believed: more than both a number and a share of the mirror, or all of it.
///
/// Only deletions are held; everything else flows.
public struct DeleteGuard: Hashable, Sendable {
    /// The number of entries, files and folders, that may always go in one wave.
    public var nodes: Int
    /// The share of the synced entries, 0 to 1, that may always go in one wave.
    public var fraction: Double
    /// Whether deletions that would leave a mirror of two or more entries empty are held, however few.
    public var holdsEmptying: Bool

    /// Creates a guard; as it comes, it holds more than 20 entries and a quarter of the mirror.
    public init(nodes: Int = 20, fraction: Double = 0.25, holdsEmptying: Bool = true) {
        self.nodes = nodes
        self.fraction = fraction
        self.holdsEmptying = holdsEmptying
    }

    /// Whether so many deletions out of so many synced entries must wait for approval.
    public func holds(deletions: Int, of synced: Int) -> Bool {
        if deletions == 0 { return false }
        if holdsEmptying, synced >= 2, deletions >= synced { return true }
        return deletions > nodes && Double(deletions) > fraction * Double(synced)
    }
}
