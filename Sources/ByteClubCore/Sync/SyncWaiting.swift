/// What a paused mirror would do if it went on: what the server had told before, and what the disk shows now.
public struct SyncWaiting: Hashable, Sendable, Codable {
    /// Files to send, of which some may turn out to be equal on both sides.
    public var uploads = 0
    /// Their bytes.
    public var uploadBytes: Int64 = 0
    /// Files to fetch.
    public var downloads = 0
    /// Their bytes.
    public var downloadBytes: Int64 = 0
    /// All else: folders, renames, deletions, and files that were edited on both sides.
    public var others = 0

    /// Nothing waits.
    public init() {}
}
