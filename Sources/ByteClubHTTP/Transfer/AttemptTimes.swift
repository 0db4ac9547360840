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
        let phases: [WritableKeyPath<TaskMetrics.Attempt, Duration>] = [
            \.lookup, \.connect, \.tls, \.send, \.wait, \.receive,
        ]
        let ends = [resolved, connected, secured, sent, answered]
        let last = ends.lastIndex { $0 != nil } ?? -1
        var before = max(queued, launched)
        attempt.queue = queued.duration(to: before)
        for (index, phase) in phases.enumerated() {
            let reached = index < ends.count ? ends[index] : nil
            let end = reached ?? (index < last ? before : ended)
            let next = max(before, min(end, ended))
            attempt[keyPath: phase] = before.duration(to: next)
            before = next
        }
    }
}
