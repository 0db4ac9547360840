import HTTPTypes

/// What is told of a task's attempts when they are over.
extension Transfer {
    /// Adds the attempt that leaves the multi handle; what follows is counted from here.
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
        metrics.status = attempt.response?.status.code ?? 0
        if !self.metrics.attempts.isEmpty {
            metrics.reason = hops > notedHops ? .redirect : .retry
        }
        notedHops = hops
        self.metrics.attempts.append(metrics)
        queuedSince = ended
    }

    /// The whole, when the task ends.
    func endMetrics() -> TaskMetrics {
        metrics.redirects = hops
        metrics.total = metrics.attempts.reduce(.zero) { $0 + $1.total }
        // A task that ended with its attempt waited for nothing since.
        if case .retired = stage { return metrics }
        metrics.total += queuedSince.duration(to: .fine)
        return metrics
    }
}
