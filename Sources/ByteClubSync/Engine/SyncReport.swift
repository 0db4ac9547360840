import ByteClubCore

/// What a piece of work found out and did.
///
/// Workers fill one in and touch nothing else of the session.
struct SyncReport: Sendable {
    /// An event, with how many entries it concerns.
    struct Emission: Sendable {
        let event: SyncEvent
        var nodes = 1
        /// Whether it tells of a lasting state, which is told once a sync.
        var isOnce = false
    }

    /// What an item has met, in the order in which it met it.
    struct Met: Sendable {
        let item: ItemID
        let outcome: ItemOutcome
    }

    /// Operations that took effect.
    var done = 0
    /// Whether the trees are not as they were before.
    var hasChanges = false
    /// Items about which something can be decided now, whatever becomes of others.
    var ready: Set<ItemID> = []
    /// Folders whose listing no longer matches the tree.
    var rescans: Set<ItemID> = []
    /// Folders that changed so lately that their times may not tell of the next change.
    var racyFolders: Set<ItemID> = []
    /// What came of single items.
    var met: [Met] = []
    /// Whether the server is not as the tree says, so that its feed is to be read.
    var isFeedStale = false
    /// Whether something may be left in staging that is to be classified.
    var needsRecovery = false
    /// The last item that was planned; the root when there are no more.
    var last: ItemID?
    /// Items that the planner wants to delete; all deletions of a round are judged together.
    var deletions: [ItemID] = []
    /// Large files that are to travel beside other work.
    var transfers: [TransferRequest] = []
    /// How many entries were deleted on the server or left out by new rules.
    var deleted = 0
    /// What is to be told to whoever watches the sync.
    var emissions: [Emission] = []
    /// A failure that may pass by itself.
    var failure: RemoteError?

    /// Notes what came of an item.
    mutating func note(_ outcome: ItemOutcome, of item: ItemID) { met.append(Met(item: item, outcome: outcome)) }

    /// Notes that an item was refused.
    mutating func refuse(_ item: ItemID, _ message: String, isFinal: Bool = false, isBreach: Bool = false) {
        note(.refused(message, isFinal: isFinal, isBreach: isBreach), of: item)
    }

    /// Notes that the disk refused something about an item that lies in a folder; what is gone is looked for there.
    mutating func refuse(_ item: ItemID, in folder: ItemID?, _ error: FileError) {
        if let folder { rescans.insert(folder) }
        if !error.isMissing { refuse(item, error.description) }
    }

    mutating func emit(_ event: SyncEvent, nodes: Int = 1) { emissions.append(Emission(event: event, nodes: nodes)) }

    mutating func emitOnce(_ event: SyncEvent) { emissions.append(Emission(event: event, isOnce: true)) }

    /// Judges the failure of a whole call: fatal, transient, or permanent for these items.
    ///
    /// - Throws: The error when no other call would go better.
    mutating func judge(_ error: RemoteError, about items: [ItemID]) throws(RemoteError) {
        switch error.code {
        case .cancelled, .unauthorized: throw error
        case .conflict, .notFound, .forbidden, .staleCursor, .badCursor, .localFile:
            isFeedStale = true
            for item in items { refuse(item, error.message) }
        case .overQuota:
            for item in items { refuse(item, error.message, isFinal: true) }
            failure = failure ?? error
        case _ where error.isRetryable: failure = failure ?? error
        default:
            // The feed is read again, so that what stays wrong is told.
            isFeedStale = true
            for item in items { refuse(item, error.message, isBreach: error.code == .protocolViolation) }
        }
    }
}
