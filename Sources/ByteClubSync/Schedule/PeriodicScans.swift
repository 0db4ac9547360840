/// The scans that no event asks for: of everything now and then, and of what cannot be watched more often.
struct PeriodicScans: Sendable {
    private let interval: Duration
    private var isWatched = true
    private var pace = PollingPace()
    /// What was scanned since scans were planned last.
    private var unwatchedChanges: Set<ItemID> = []
    private var hasScannedEverything = false
    private var time = Duration.zero

    /// `interval` is how often everything is scanned though all folders are watched.
    init(every interval: Duration) { self.interval = interval }

    /// Notes a scan that took some time; `unwatched` are changed folders that are not watched.
    mutating func note(_ request: ScanRequest, unwatched: Set<ItemID>, lasting: Duration) {
        if case .everything = request { hasScannedEverything = true }
        time += lasting
        unwatchedChanges.formUnion(unwatched)
    }

    /// Takes whether all folders are watched.
    mutating func setWatched(_ isWatched: Bool, _ rescans: inout RescanQueue, at now: SyncInstant) {
        if self.isWatched, !isWatched { rescans.addEverything(at: now + PollingPace.shortest) }
        self.isWatched = isWatched
    }

    /// Asks for the scans that follow from those that were done.
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

/// How often a mirror is looked through whose folders cannot all be watched: often while it changes, and seldom enough
/// that looking costs little.
struct PollingPace: Sendable {
    /// The shortest time between two looks at everything.
    static let shortest = Duration.seconds(2)
    /// The longest, where looking is quick.
    static let longest = Duration.seconds(10)
    /// How often folders are looked at that changed lately.
    static let hot = Duration.seconds(1)
    /// For how long a folder counts as one that changed lately.
    private static let warmth = Duration.seconds(60)

    private var interval = Self.shortest
    private var hotUntil: [ItemID: SyncInstant] = [:]

    /// How long to wait after a look at everything that took some time.
    mutating func afterEverything(foundChanges: Bool, lasting: Duration) -> Duration {
        interval = foundChanges ? Self.shortest : min(interval * 2, Self.longest)
        return max(interval, lasting * 50)
    }

    /// Notes folders that have just changed; tells which to look at soon.
    mutating func hotFolders(adding changed: Set<ItemID>, _ now: SyncInstant) -> Set<ItemID> {
        hotUntil = hotUntil.filter { $0.value > now }
        for folder in changed { hotUntil[folder] = now + Self.warmth }
        return Set(hotUntil.keys)
    }
}
