/// What one sync did.
public struct SyncSummary: Hashable, Sendable, Codable {
    /// Files sent.
    public var uploaded = 0
    /// Files received.
    public var downloaded = 0
    /// Local entries put into the trash.
    public var deletedLocal = 0
    /// Entries deleted on the server; a folder counts with all below it.
    public var deletedRemote = 0
    /// Entries renamed or moved in the mirror; a folder counts once.
    public var movedLocal = 0
    /// Entries renamed or moved on the server; a folder counts once.
    public var movedRemote = 0
    /// Notes in which the changes of both sides were put together.
    public var merged = 0
    /// Conflict copies made.
    public var conflicts = 0
    /// Deletions that wait for approval.
    public var held = 0
    /// Entries in sync that new ignore rules would leave out, which wait for approval.
    public var heldByRules = 0
    /// What the ignore rules leave out.
    public var ignored = SyncStatus.Ignored()
    /// Skipped paths, whose reasons were reported.
    public var problems = 0
    /// Bytes of the files sent.
    public var bytesUp: Int64 = 0
    /// Bytes of the files received.
    public var bytesDown: Int64 = 0
    /// Whether mirror and server agree on everything: nothing held, no problem.
    public var isComplete = false

    /// Creates a summary of nothing.
    public init() {}

    /// Counts an event that concerns so many entries.
    public mutating func count(_ event: SyncEvent, nodes: Int) {
        switch event.event {
        case .upload:
            uploaded += 1
            bytesUp += event.bytes ?? 0
        case .download:
            downloaded += 1
            bytesDown += event.bytes ?? 0
        case .deleteLocal: deletedLocal += nodes
        case .deleteRemote: deletedRemote += nodes
        case .moveLocal: movedLocal += 1
        case .moveRemote: movedRemote += 1
        case .merge: merged += 1
        case .conflict: conflicts += 1
        case .makeLocalFolder, .makeRemoteFolder, .problem, .held, .progress, .paused, .idle, .summary: break
        }
    }
}
