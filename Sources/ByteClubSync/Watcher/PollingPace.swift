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
