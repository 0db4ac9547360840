import ByteClubHTTP

/// The state of a wait for transfers, updated from their statuses.
struct TransferWait: Sendable {
    /// Those that have not ended.
    private(set) var rest: [BackgroundStatus] = []
    /// The finished transfers, in order of their ends.
    private(set) var ended: [BackgroundStatus] = []
    private var awaited: Set<BackgroundTask.ID>

    /// Waits for transfers.
    init(for ids: [BackgroundTask.ID]) { awaited = Set(ids) }

    /// Updates the state from the statuses of all transfers, and returns those that have ended since and still exist.
    mutating func take(_ all: [BackgroundStatus]) -> [BackgroundStatus] {
        let standing = all.filter { awaited.contains($0.id) }
        let new = standing.filter(\.isFinished)
        rest = standing.filter { !$0.isFinished }
        ended += new
        awaited = Set(rest.map(\.id))
        return new
    }

    /// Whether all transfers have ended.
    var isOver: Bool { rest.isEmpty }
    /// Whether all remaining transfers wait for the user.
    var isHeld: Bool { !rest.isEmpty && rest.allSatisfy { $0.state == .paused } }
    /// What all remaining transfers wait for before they may use the network, for people; nil when any may.
    var obstacle: String? {
        let obstacles = rest.map { $0.state == .waiting ? $0.obstacle : nil }
        guard let first = obstacles.first ?? nil, !obstacles.contains(nil) else { return nil }
        return TransferObject.words(first)
    }
    /// Whether any has failed.
    var hasFailures: Bool { ended.contains { $0.state == .failed } }

    /// The progress of all transfers together, after so many seconds of waiting.
    func progress(after elapsed: Double) -> ProgressState {
        let all = ended + rest
        let (bytes, total) = all.sum
        let name = all.count == 1 ? all.first.map { TransferObject($0, id: "").label } : nil
        var progress = ProgressState(
            name: obstacle ?? name ?? "\(ended.count) of \(all.count) transfers", completed: bytes, total: total)
        let rate = rest.reduce(0) { $0 + ($1.state == .running ? $1.bytesPerSecond : 0) }
        progress.bytesPerSecond = rate > 0 ? rate : nil
        progress.elapsed = elapsed
        return progress
    }
}

extension [BackgroundStatus] {
    /// The completed and total bytes of all transfers; nil while one's are unknown.
    var sum: (bytes: Int64, total: Int64?) {
        let totals = map(\.total)
        return (
            reduce(0) { $0 + $1.bytes }, totals.contains(nil) ? nil : totals.reduce(0) { $0 + ($1 ?? 0) }
        )
    }
}
