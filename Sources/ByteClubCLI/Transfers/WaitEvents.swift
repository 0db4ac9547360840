import ByteClubHTTP

/// What programs are told of a wait for transfers, as ``ProgressEvent``s; pure: it is told how they stand.
///
/// Each transfer that runs or ends has one start, then a line a second at most while it runs, then one end. One that
/// somebody made the daemon forget counts as failed, since nobody can tell what became of it.
struct WaitEvents {
    private static let interval = 1.0

    /// What each one under way is called, and when something was told of it last, in seconds.
    private var told: [BackgroundTask.ID: (path: String, time: Double)] = [:]
    private var wait = TransferWait(for: [])
    /// How those stood last that the daemon was made to forget before they had ended.
    private var forgotten: [BackgroundStatus] = []

    /// Takes how they stand.
    ///
    /// - Parameters:
    ///   - wait: The wait; what has ended since is behind what had ended before.
    ///   - now: In seconds, from whenever.
    ///   - time: The same for people, as RFC 3339.
    /// - Returns: What to write.
    mutating func take(_ wait: TransferWait, now: Double, time: String) -> [ProgressEvent] {
        var events: [ProgressEvent] = []
        for status in wait.ended.dropFirst(self.wait.ended.count) {
            let path = begin(status, now, time, &events)
            events.append(end(status, path, time))
        }
        let known = Set((wait.rest + wait.ended).map(\.id))
        for status in self.wait.rest where !known.contains(status.id) {
            forgotten.append(status)
            if let (path, _) = told[status.id] { events.append(end(status, path, time)) }
        }
        for status in wait.rest {
            guard let last = told[status.id] else {
                if status.state == .running { _ = begin(status, now, time, &events) }
                continue
            }
            guard status.state == .running, now - last.time >= Self.interval else { continue }
            told[status.id]?.time = now
            events.append(Self.event(.progress, status, last.path, time))
        }
        self.wait = wait
        return events
    }

    /// The last line; what has not come to its end by then counts as failed, also when it goes on.
    func summary(time: String) -> ProgressEvent {
        let all = wait.ended + wait.rest + forgotten
        let (bytes, total) = all.sum
        let files = wait.ended.count { $0.state == .done }
        return ProgressEvent(
            event: .summary, time: time, bytes: bytes, total: total, files: files, failed: all.count - files, version: 1
        )
    }

    /// Tells of a transfer's end, after which it is none under way.
    private mutating func end(_ status: BackgroundStatus, _ path: String, _ time: String) -> ProgressEvent {
        told[status.id] = nil
        guard status.state == .done else { return Self.event(.failed, status, path, time) }
        var whole = status
        whole.bytes = status.total ?? status.bytes
        whole.total = whole.bytes
        return Self.event(.finish, whole, path, time)
    }

    /// Tells of a transfer's start, unless that was told; what it is called.
    private mutating func begin(
        _ status: BackgroundStatus, _ now: Double, _ time: String, _ events: inout [ProgressEvent]
    ) -> String {
        if let known = told[status.id] { return known.path }
        let path = Self.path(status)
        told[status.id] = (path, now)
        events.append(Self.event(.start, status, path, time))
        return path
    }

    private static func event(
        _ kind: ProgressEvent.Kind, _ status: BackgroundStatus, _ path: String, _ time: String
    ) -> ProgressEvent {
        ProgressEvent(
            event: kind, time: time, id: status.id.description, path: path, bytes: status.bytes, total: status.total)
    }

    /// The photo's path on the server, as far as the transfer can be understood.
    private static func path(_ status: BackgroundStatus) -> String {
        switch status.request.work {
        case .custom(PhotoUploadOrder.kind, let payload):
            if let order = try? PhotoUploadOrder(payload: payload) { return "\(order.folder)/\(order.label)" }
        case .custom(PhotoDownloadOrder.kind, let payload):
            if let order = try? PhotoDownloadOrder(payload: payload) { return order.path }
        default: break
        }
        return TransferObject(status, id: "").label
    }
}
