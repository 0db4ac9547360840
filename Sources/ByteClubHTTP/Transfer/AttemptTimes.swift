/// When an attempt passed from each of its phases to the next, on one clock; nil for what it never reached.
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
    /// The parts are the gaps between moments in their order, so they add up to the whole whatever the moments are. A
    /// phase whose end is missing took no time if a later one was reached, and else until the attempt ended.
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
