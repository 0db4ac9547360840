/// Periodic scans without an event: full scans, and more frequent scans of folders that cannot be watched.
struct PeriodicScans: Sendable {
    private let interval: Duration
    private var isWatched = true
    private var pace = PollingPace()
    /// The unwatched folders that scans have found changed since the last planning.
    private var unwatchedChanges: Set<ItemID> = []
    private var hasScannedEverything = false
    private var time = Duration.zero

    /// `interval` is the interval between full scans when all folders are watched.
    init(every interval: Duration) { self.interval = interval }

    /// Notes a scan and its duration; `unwatched` are changed folders that are not watched.
    mutating func note(_ request: ScanRequest, unwatched: Set<ItemID>, lasting: Duration) {
        if case .everything = request { hasScannedEverything = true }
        time += lasting
        unwatchedChanges.formUnion(unwatched)
    }

    /// Notes whether all folders are watched.
    mutating func setWatched(_ isWatched: Bool, _ rescans: inout RescanQueue, at now: SyncInstant) {
        if self.isWatched, !isWatched { rescans.addEverything(at: now + PollingPace.shortest) }
        self.isWatched = isWatched
    }

    /// Enqueues the next periodic scans.
    mutating func plan(_ rescans: inout RescanQueue, at now: SyncInstant) {
        let (changes, everything, time) = (unwatchedChanges, hasScannedEverything, time)
        (unwatchedChanges, hasScannedEverything, self.time) = ([], false, .zero)
        if everything { rescans.addEverything(at: now + interval) }
        if isWatched { return }
        rescans.add(pace.hotFolders(adding: changes, now), at: now + PollingPace.hot)
        if everything {
            rescans.addEverything(at: now + pace.afterEverything(foundChanges: !changes.isEmpty, lasting: time))
        } else if !changes.isEmpty {
            rescans.addEverything(at: now + PollingPace.shortest)
        }
    }
}

/// How often a mirror is scanned whose folders cannot all be watched: often while it changes, and seldom enough that
/// scanning costs little.
struct PollingPace: Sendable {
    /// The shortest time between two full scans.
    static let shortest = Duration.seconds(2)
    /// The longest, where scanning is quick.
    static let longest = Duration.seconds(10)
    /// How often recently changed folders are scanned.
    static let hot = Duration.seconds(1)
    /// For how long a folder counts as recently changed.
    private static let warmth = Duration.seconds(60)

    private var interval = Self.shortest
    private var hotUntil: [ItemID: SyncInstant] = [:]

    /// How long to wait after a full scan, by its duration.
    mutating func afterEverything(foundChanges: Bool, lasting: Duration) -> Duration {
        interval = foundChanges ? Self.shortest : min(interval * 2, Self.longest)
        return max(interval, lasting * 50)
    }

    /// Adds folders that have just changed; returns those to scan soon.
    mutating func hotFolders(adding changed: Set<ItemID>, _ now: SyncInstant) -> Set<ItemID> {
        hotUntil = hotUntil.filter { $0.value > now }
        for folder in changed { hotUntil[folder] = now + Self.warmth }
        return Set(hotUntil.keys)
    }
}
