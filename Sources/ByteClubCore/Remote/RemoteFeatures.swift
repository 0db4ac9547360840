/// The powers of a remote beyond what every remote has, as a value that callers read.
public struct RemoteFeatures: Hashable, Sendable {
    /// Whether a delete can be made to depend on the version that was seen.
    public var conditionalDelete: Bool
    /// Whether metadata tells the content hash.
    public var contentHash: Bool
    /// Whether ``Remote/waitForChanges(after:timeout:)`` waits rather than answers at once.
    public var longPoll: Bool
    /// Whether the calls of ``SyncRemote`` are answered.
    public var sync: Bool
    /// Whether ``LinkRemote`` shows links, takes them back, and lets them end at a chosen time.
    public var links: Bool

    /// Creates a set of powers.
    public init(conditionalDelete: Bool, contentHash: Bool, longPoll: Bool, sync: Bool = false, links: Bool = false) {
        self.conditionalDelete = conditionalDelete
        self.contentHash = contentHash
        self.longPoll = longPoll
        self.sync = sync
        self.links = links
    }
}
