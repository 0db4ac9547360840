import ByteClubHTTP

/// What a wait for transfers knows of them; pure: it is told how they stand.
struct TransferWait: Sendable {
    /// Those that have not ended.
    private(set) var rest: [BackgroundStatus] = []
    /// Those that have, in the order in which that was seen.
    private(set) var ended: [BackgroundStatus] = []
    private var awaited: Set<BackgroundTask.ID>

    /// Waits for transfers.
    init(for ids: [BackgroundTask.ID]) { awaited = Set(ids) }

    /// Takes how all transfers stand.
    ///
    /// - Returns: Those that have ended since, but for those that somebody made the daemon forget.
    mutating func take(_ all: [BackgroundStatus]) -> [BackgroundStatus] {
        let standing = all.filter { awaited.contains($0.id) }
        let new = standing.filter(\.isFinished)
        rest = standing.filter { !$0.isFinished }
        ended += new
        awaited = Set(rest.map(\.id))
        return new
    }

    /// Whether there is nothing to wait for any more.
    var isOver: Bool { rest.isEmpty }
    /// Whether what is left waits for a person.
    var isHeld: Bool { !rest.isEmpty && rest.allSatisfy { $0.state == .paused } }
    /// Whether any has failed.
    var hasFailures: Bool { ended.contains { $0.state == .failed } }

    /// How far all of them are together, so many seconds after the wait began.
    func progress(after elapsed: Double) -> ProgressState {
        let all = ended + rest
        let (bytes, total) = all.sum
        let name = all.count == 1 ? all.first.map { TransferObject($0, id: "").label } : nil
        var progress = ProgressState(
            name: name ?? "\(ended.count) of \(all.count) transfers", completed: bytes, total: total)
        let rate = rest.reduce(0) { $0 + ($1.state == .running ? $1.bytesPerSecond : 0) }
        progress.bytesPerSecond = rate > 0 ? rate : nil
        progress.elapsed = elapsed
        return progress
    }
}

extension [BackgroundStatus] {
    /// The bytes of all together that need not be moved again, and how many there will be; nil while one's are unknown.
    var sum: (bytes: Int64, total: Int64?) {
        let totals = map(\.total)
        return (
            reduce(0) { $0 + $1.bytes }, totals.contains(nil) ? nil : totals.reduce(0) { $0 + ($1 ?? 0) }
        )
    }
}
