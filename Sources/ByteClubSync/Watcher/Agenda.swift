/// What is to be looked at, and when; moments are the caller's.
struct Agenda: Sendable {
    /// What is due.
    struct Reasons: Hashable, Sendable {
        /// Folders in which something has happened.
        var folders: Set<ItemID> = []
        /// Files that were just saved.
        var saved: SavedFiles = [:]
        /// Folders that are only looked at once more, because they could not be trusted the last time.
        var secondLooks: Set<ItemID> = []
        var isEverything = false

        /// What part of the mirror to look at.
        var scope: ScanScope { isEverything ? .everything : .folders(folders.union(secondLooks)) }
    }

    private var saved: SavedFiles = [:]
    private var looks: [ItemID: ContinuousClock.Instant] = [:]
    private var secondLooks: [ItemID: ContinuousClock.Instant] = [:]
    private var everything: ContinuousClock.Instant?
    private var cycle: ContinuousClock.Instant?

    /// Asks for a look at folders; the earliest moment counts.
    mutating func look(at folders: Set<ItemID>, _ time: ContinuousClock.Instant) {
        for folder in folders { looks[folder] = min(looks[folder] ?? time, time) }
    }

    /// Asks for a glance at files at once.
    mutating func glance(at files: SavedFiles, _ time: ContinuousClock.Instant) {
        if files.isEmpty { return }
        saved.merge(files) { $0.union($1) }
        wake(time)
    }

    /// Asks for another look at folders; the last moment counts, since they have changed again.
    mutating func lookAgain(at folders: Set<ItemID>, _ time: ContinuousClock.Instant) {
        for folder in folders { secondLooks[folder] = time }
    }

    /// Asks for a look at the whole mirror; the earliest moment counts.
    mutating func lookAtEverything(_ time: ContinuousClock.Instant) { everything = min(everything ?? time, time) }

    /// Asks for a cycle, though nothing on disk is to be looked at; the earliest moment counts.
    mutating func wake(_ time: ContinuousClock.Instant) { cycle = min(cycle ?? time, time) }

    /// Gives back what came to nothing.
    mutating func putBack(_ reasons: Reasons, _ time: ContinuousClock.Instant) {
        if reasons.isEverything { lookAtEverything(time) }
        look(at: reasons.folders, time)
        look(at: reasons.secondLooks, time)
        look(at: Set(reasons.saved.keys), time)
        wake(time)
    }

    /// When something is due next; nil when nothing is to be done.
    var next: ContinuousClock.Instant? {
        [looks.values.min(), secondLooks.values.min(), everything, cycle].compactMap(\.self).min()
    }

    /// Takes what is due; nil when nothing is.
    mutating func take(_ now: ContinuousClock.Instant) -> Reasons? {
        guard let next, next <= now else { return nil }
        var reasons = Reasons()
        if let time = everything, time <= now {
            everything = nil
            reasons.isEverything = true
        }
        if let time = cycle, time <= now { cycle = nil }
        reasons.folders = Self.takeDue(&looks, now)
        reasons.saved = saved
        saved = [:]
        reasons.secondLooks = Self.takeDue(&secondLooks, now).subtracting(reasons.folders)
        return reasons
    }

    private static func takeDue(
        _ looks: inout [ItemID: ContinuousClock.Instant], _ now: ContinuousClock.Instant
    ) -> Set<ItemID> {
        let due = Set(looks.filter { $0.value <= now }.keys)
        for folder in due { looks[folder] = nil }
        return due
    }
}
