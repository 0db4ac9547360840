import ByteClubCore

/// The results of a piece of work.
///
/// Workers fill one in and touch nothing else of the session.
struct SyncReport: Sendable {
    /// An event, with how many entries it concerns.
    struct Emission: Sendable {
        let event: SyncEvent
        var nodes = 1
        /// Whether it is about a lasting state, which is reported once for as long as it lasts.
        var isOnce = false
    }

    /// The outcome of work on an item, in the order of events.
    struct Outcome: Sendable {
        let item: ItemID
        let outcome: ItemOutcome
    }

    /// Operations that took effect.
    var done = 0
    /// Whether the trees have changed.
    var hasChanges = false
    /// Items that can be planned now, independently of others.
    var ready: Set<ItemID> = []
    /// Whether more items than the ready ones may have to be planned.
    var needsRound = false
    /// Folders whose listing no longer matches the tree: the operations in them are planned again after a scan.
    var rescans: Set<ItemID> = []
    /// Folders that were just made, to be scanned now that they are watched.
    var newFolders: Set<ItemID> = []
    /// The outcomes of single items.
    var results: [Outcome] = []
    /// Why the tree may not show what the server has, so that the feed must be read; the first of several reasons.
    private(set) var feedDoubt: FeedDoubt?
    /// Whether staging may contain leftovers that recovery must classify.
    var needsRecovery = false
    /// The last item that was planned; the root when there are no more.
    var last: ItemID?
    /// Items that the planner wants to delete; all deletions of a round are checked together.
    var deletions: [ItemID] = []
    /// Large files to transfer in the background.
    var transfers: [TransferRequest] = []
    /// Items that the feed has reported: none of them needs to wait for the server any longer.
    var reported: Set<ItemID> = []
    /// Items that the server has deleted as this engine asked.
    var deleted: [ItemID] = []
    /// The guard's verdict about the round's deletions; nil when it judged none.
    var verdict: DeletionGuard.Verdict?
    /// Events to emit.
    var emissions: [Emission] = []
    /// A failure that may pass by itself.
    var failure: RemoteError?

    /// Notes that the feed has changed an item, `isAlone` when nothing else has to be decided with it.
    mutating func noteChange(of item: Item, isAlone: Bool) {
        hasChanges = true
        if !isAlone { needsRound = true } else if !item.isSettled { ready.insert(item.id) }
    }

    /// Notes that the feed has changed more than single items.
    mutating func noteChanges() { (hasChanges, needsRound) = (true, true) }

    /// Whether the feed must be read before more is decided.
    var isFeedStale: Bool { feedDoubt != nil }

    /// Notes a reason to read the feed.
    mutating func distrustFeed(_ reason: FeedDoubt) { feedDoubt = feedDoubt ?? reason }

    /// Records an item's outcome.
    mutating func note(_ outcome: ItemOutcome, of item: ItemID) {
        results.append(Outcome(item: item, outcome: outcome))
    }

    /// Notes that an item was refused.
    mutating func refuse(_ item: ItemID, _ message: String, _ refusal: Refusal = .passing) {
        note(.refused(message, refusal), of: item)
    }

    /// Notes that the disk refused something about an item in a folder; for a missing entry, the folder is scanned
    /// again.
    mutating func refuse(_ item: ItemID, in folder: ItemID?, _ error: FileError) {
        if let folder { rescans.insert(folder) }
        if !error.isMissing { refuse(item, error.description, error.isLasting ? .lasting : .passing) }
    }

    mutating func emit(_ event: SyncEvent, nodes: Int = 1) { emissions.append(Emission(event: event, nodes: nodes)) }

    mutating func emitOnce(_ event: SyncEvent) { emissions.append(Emission(event: event, isOnce: true)) }

    /// Classifies a failed call: fatal, transient, or permanent for these items.
    ///
    /// - Throws: The error when it is fatal: no other call would succeed either.
    mutating func judge(_ error: RemoteError, about items: [ItemID]) throws(RemoteError) {
        switch error.code {
        case .cancelled, .unauthorized: throw error
        case .forbidden:
            distrustFeed(.refused)
            let message = error.message + (error.isOfRole ? ", or revert it with 'byteclub sync revert'" : "")
            for item in items { refuse(item, message, error.isOfRole ? .role : .answered) }
        case .conflict, .notFound, .staleCursor, .badCursor, .localFile:
            distrustFeed(.refused)
            for item in items { refuse(item, error.message) }
        case .overQuota:
            for item in items { refuse(item, error.message + "; ask its host for more space", .lasting) }
            failure = failure ?? error
        case _ where error.isRetryable:
            distrustFeed(.echoExpected)
            failure = failure ?? error
        default:
            distrustFeed(.refused)
            for item in items { refuse(item, error.message, error.code == .protocolViolation ? .breach : .answered) }
        }
    }

    /// Classifies the failure of one transfer: its item waits by itself, and the rest of the sync continues.
    ///
    /// `isSent` says that the server may have the content of an upload.
    ///
    /// - Throws: The error when it is fatal.
    mutating func judge(_ error: RemoteError, ofTransfer item: ItemID, isSent: Bool) throws(RemoteError) {
        var own = SyncReport()
        try own.judge(error, about: [item])
        results += own.results
        if let failure = own.failure { refuse(item, failure.message) }
        if let doubt = own.feedDoubt, own.failure == nil || isSent { distrustFeed(doubt) }
    }
}
