import HTTPTypes

/// Recording of a task's attempts.
extension Transfer {
    /// Records the attempt that leaves the multi handle; the next one is counted from here.
    func noteAttempt() {
        let ended = Moment.fine
        var metrics = TaskMetrics.Attempt()
        var times = AttemptTimes(
            queued: queuedSince, launched: attempt.launched, sent: attempt.bodySent, answered: attempt.answered,
            ended: ended)
        let isSecure = head.url.origin.scheme == .https
        attempt.easy?.fill(&metrics, &times, isSecure: isSecure, hasBody: source.map { $0.length != 0 } ?? false)
        times.fill(&metrics)
        if attempt.easy?.holdsBody != true { metrics.bytesSent += attempt.sent }
        metrics.bytesReceived += attempt.received
        metrics.status = attempt.status?.code ?? 0
        if !self.metrics.attempts.isEmpty {
            metrics.reason = hops > notedHops ? .redirect : .retry
        }
        notedHops = hops
        self.metrics.attempts.append(metrics)
        queuedSince = ended
    }

    /// Removes the record of the attempt that has ended; its time counts as waiting for the next one.
    ///
    /// So a task that waits for a network for days does not grow.
    func forgetAttempt() {
        attempt.number -= 1
        guard let last = metrics.attempts.popLast() else { return }
        queuedSince = queuedSince.advanced(by: .zero - last.total)
        if last.reason == .redirect { notedHops -= 1 }
    }

    /// The metrics of the whole task, when it ends.
    func endMetrics() -> TaskMetrics {
        metrics.redirects = hops
        metrics.total = metrics.attempts.reduce(.zero) { $0 + $1.total }
        // A task that ended with its attempt has not waited since.
        if case .retired = stage { return metrics }
        metrics.total += queuedSince.duration(to: .fine)
        return metrics
    }
}

/// The times at which an attempt passed from phase to phase, on one clock; nil for phases it never reached.
struct AttemptTimes {
    var queued: Moment
    var launched: Moment
    var resolved: Moment?
    var connected: Moment?
    var secured: Moment?
    var sent: Moment?
    var answered: Moment?
    var ended: Moment

    /// Fills in how long each phase took.
    ///
    /// The durations are the gaps between consecutive times, so they always add up to the whole. A phase without an end
    /// has no duration if a later one was reached, and otherwise lasts until the attempt ended.
    func fill(_ attempt: inout TaskMetrics.Attempt) {
        var before = max(queued, launched)
        attempt.queue = queued.duration(to: before)
        func phase(until reached: Moment?, orSkippedIf isPassed: Bool) -> Duration {
            let next = max(before, min(reached ?? (isPassed ? before : ended), ended))
            defer { before = next }
            return before.duration(to: next)
        }
        let isSent = sent != nil || answered != nil
        let isSecured = secured != nil || isSent
        attempt.lookup = phase(until: resolved, orSkippedIf: connected != nil || isSecured)
        attempt.connect = phase(until: connected, orSkippedIf: isSecured)
        attempt.tls = phase(until: secured, orSkippedIf: isSent)
        attempt.send = phase(until: sent, orSkippedIf: answered != nil)
        attempt.wait = phase(until: answered, orSkippedIf: false)
        attempt.receive = phase(until: nil, orSkippedIf: false)
    }
}
