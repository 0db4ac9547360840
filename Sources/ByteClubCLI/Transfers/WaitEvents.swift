import ByteClubHTTP

/// The ``ProgressEvent``s of a wait for transfers, computed from their statuses.
///
/// Each transfer that runs or ends has one start, then at most a line a second while it runs, then one end. A transfer
/// that was removed counts as failed, since its outcome is unknown.
struct WaitEvents {
    private static let interval = 1.0

    /// The path of each running transfer, and the time of its last event, in seconds.
    private var told: [BackgroundTask.ID: (path: String, time: Double)] = [:]
    private var wait = TransferWait(for: [])
    /// The last statuses of transfers that were removed before their end.
    private var forgotten: [BackgroundStatus] = []

    /// Computes the events to write for the current statuses, at a time in seconds from any origin and as RFC 3339.
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

    /// The last event; transfers that have not ended by then count as failed, even if they continue.
    func summary(time: String) -> ProgressEvent {
        let all = wait.ended + wait.rest + forgotten
        let (bytes, total) = all.sum
        let files = wait.ended.count { $0.state == .done }
        return ProgressEvent(
            event: .summary, time: time, bytes: bytes, total: total, files: files, failed: all.count - files, version: 1
        )
    }

    /// Adds the event of a transfer's end.
    private mutating func end(_ status: BackgroundStatus, _ path: String, _ time: String) -> ProgressEvent {
        told[status.id] = nil
        guard status.state == .done else { return Self.event(.failed, status, path, time) }
        var whole = status
        whole.bytes = status.total ?? status.bytes
        whole.total = whole.bytes
        return Self.event(.finish, whole, path, time)
    }

    /// Adds the event of a transfer's start, unless there was one; returns its path.
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

    /// The photo's path on the server, if the record can be read.
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
