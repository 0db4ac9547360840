import ByteClubCore

/// The activity of a sync, from its events and its database.
///
/// It reads no clock: times are parameters, in seconds.
struct MirrorActivity: Sendable {
    /// The overall activity.
    enum Phase: Hashable, Sendable {
        /// Before the first event: both sides are being scanned.
        case looking
        /// Changes are being carried out.
        case working
        /// Idle: both sides are watched.
        case watching
        /// Waiting because of a problem; the next attempt is in seconds since 1970.
        case waiting(reason: String, until: Int64)
        /// Paused, until a time in seconds since 1970 or until resumed.
        case paused(until: Int64?)
        /// Paused while the network is metered.
        case metered
    }

    /// A large file on its way.
    struct Transfer: Codable, Hashable, Sendable {
        var path: String
        var completed: Int64
        var total: Int64
        /// When a byte moved last; not for other programs.
        var lastMove = 0.0

        private enum CodingKeys: String, CodingKey { case path, completed, total }
    }

    /// Seconds without progress after which a transfer is considered abandoned, when a cycle has ended without it.
    private static let patience = 30.0

    private(set) var phase = Phase.looking
    /// Files sent and received since both sides last agreed.
    private(set) var uploaded = 0
    private(set) var downloaded = 0
    /// Everything done since then: files, folders, moves, deletions.
    private(set) var done = 0
    /// Entries that were pending at the last reading of the database.
    private(set) var pending = 0
    /// Entries that were done or pending then; nil before the first reading of this burst.
    private(set) var total: Int?
    /// Large transfers, the oldest first.
    private(set) var transfers: [Transfer] = []
    /// Files that are in sync or were.
    private(set) var files: Int?
    private(set) var conflicts = 0
    private(set) var held = 0
    /// Whether new ignore rules are held.
    private(set) var areRulesHeld = false
    private(set) var problems = 0
    private var moved: Int64 = 0
    private var meter: RateMeter

    /// Begins at a time.
    init(now: Double) { meter = RateMeter(time: now, count: 0) }

    /// The progress for a terminal's task bar.
    var taskbar: TaskbarProgress {
        guard phase == .working else { return .none }
        let bytes = transfers.reduce(0.0) { $0 + Double($1.total) }
        if let total, total > 1 { return .percent(min(100, done * 100 / total)) }
        if bytes > 0 { return .percent(Int(transfers.reduce(0.0) { $0 + Double($1.completed) } * 100 / bytes)) }
        return .busy
    }

    /// Bytes a second in this burst; nil when unknown.
    var bytesPerSecond: Double? { moved > 0 ? meter.bytesPerSecond : nil }

    /// Updates from an event.
    mutating func take(_ event: SyncEvent, now: Double) {
        switch event.event {
        case .upload, .download:
            begin(now)
            if event.event == .upload { uploaded += 1 } else { downloaded += 1 }
            done += 1
            let known = event.path.flatMap { end($0) } ?? 0
            moved += max(0, (event.bytes ?? 0) - known)
            meter.take(time: now, count: moved)
        case .progress: progress(event, now)
        case .deleteLocal, .deleteRemote, .makeLocalFolder, .makeRemoteFolder, .moveLocal, .moveRemote, .merge:
            begin(now)
            done += 1
        case .conflict:
            begin(now)
            conflicts += 1
        case .problem:
            if let path = event.path { _ = end(path) }
            if let until = event.until { phase = .waiting(reason: event.message ?? "something failed", until: until) }
        case .paused:
            // They are stopped, and begin again where they were.
            transfers = []
            phase = event.cause == .metered ? .metered : .paused(until: event.until)
        case .idle, .summary: settle(event.summary, now)
        case .held: break
        }
    }

    /// Updates from the database.
    mutating func take(_ status: SyncStatus) {
        files = status.files
        conflicts = status.conflicts.count
        held = status.held.count
        areRulesHeld = status.heldRules != nil
        problems = status.problems.count
        pending = status.pending
        total = done + status.pending
    }

    private mutating func begin(_ now: Double) {
        if phase == .working { return }
        phase = .working
        if done == 0 { meter = RateMeter(time: now, count: moved) }
    }

    private mutating func progress(_ event: SyncEvent, _ now: Double) {
        guard let path = event.path, let total = event.total else { return }
        begin(now)
        let transfer = Transfer(path: path, completed: event.bytes ?? 0, total: total, lastMove: now)
        if let index = transfers.firstIndex(where: { $0.path == path }) {
            moved += max(0, transfer.completed - transfers[index].completed)
            transfers[index] = transfer
        } else {
            // Bytes that the other side already had do not count as moved.
            transfers.append(transfer)
        }
        meter.take(time: now, count: moved)
    }

    /// Ends a transfer, and returns its bytes counted so far.
    private mutating func end(_ path: String) -> Int64? {
        guard let index = transfers.firstIndex(where: { $0.path == path }) else { return nil }
        return transfers.remove(at: index).completed
    }

    private mutating func settle(_ summary: SyncSummary?, _ now: Double) {
        held = summary?.held ?? held
        if let summary { areRulesHeld = summary.heldByRules > 0 }
        problems = summary?.problems ?? problems
        if summary?.isComplete == true { pending = 0 }
        transfers.removeAll { now - $0.lastMove > Self.patience || $0.completed >= $0.total }
        phase = transfers.isEmpty ? .watching : .working
        // The number is read with the next status.
        if done > 0 { files = nil }
        if transfers.isEmpty { (uploaded, downloaded, done, total, moved) = (0, 0, 0, nil, 0) }
        meter = RateMeter(time: now, count: moved)
    }
}
