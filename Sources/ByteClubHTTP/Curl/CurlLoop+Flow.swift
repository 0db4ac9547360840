/// What holds transfers back and lets them go: rate limits, slow readers, and the order of those that wait.
extension CurlLoop {
    /// Lets go of the transfers that a rate limit held long enough.
    ///
    /// When the session's limit has credit again, the transfers that have waited longest go first, whenever they were
    /// to ask again, and only as many as there is credit for. Otherwise one would be served each time: the first in
    /// libcurl's own order, or the last one served, which knows best when to ask.
    func unthrottle(at now: Moment) {
        var (sending, receiving): ([Transfer], [Transfer]) = ([], [])
        for transfer in active.values where !transfer.isSuspended {
            guard let until = transfer.attempt.throttledUntil else { continue }
            switch transfer.attempt.heldBySession {
            case .sending: sending.append(transfer)
            case .receiving: receiving.append(transfer)
            case nil: if now >= until { unpause(transfer, at: now) }
            }
        }
        letGo(of: sending, turns: throttle.send?.turns(at: now), at: now)
        letGo(of: receiving, turns: throttle.receive?.turns(at: now), at: now)
    }

    /// Serves those that wait for the session's limit in one direction, if one of them may go; nil for no limit.
    private func letGo(of waiting: [Transfer], turns: (count: Int, next: Duration)?, at now: Moment) {
        guard waiting.contains(where: { ($0.attempt.throttledUntil ?? .distantFuture) <= now }) else { return }
        let queue = waiting.sorted { ($0.attempt.throttledSince ?? now) < ($1.attempt.throttledSince ?? now) }
        let (count, next) = turns ?? (queue.count, .zero)
        for transfer in queue.prefix(count) { unpause(transfer, at: now) }
        for transfer in queue.dropFirst(count) { transfer.attempt.throttledUntil = now.advanced(by: next) }
    }

    /// Takes another limit for the session; who waits for the old one asks again.
    func limit(_ rate: Int?, at now: Moment) {
        throttle.set(rate, at: now)
        for transfer in active.values where transfer.attempt.throttledUntil != nil {
            transfer.attempt.throttledUntil = now
            nextActiveCheck = now
        }
    }

    /// Goes on with a transfer whose reader has room again.
    func release(_ transfer: Transfer, at now: Moment) {
        guard transfer.heldSince != nil, !transfer.isSuspended else { return }
        endHold(of: transfer, at: now)
        unpause(transfer, at: now)
        nextActiveCheck = min(nextActiveCheck, deadline(of: transfer))
    }

    /// Gives a transfer back the time its reader took.
    func endHold(of transfer: Transfer, at now: Moment) {
        guard let since = transfer.heldSince else { return }
        transfer.heldSince = nil
        transfer.resourceDeadline = transfer.resourceDeadline.advanced(by: since.duration(to: now))
    }

    /// Takes a task's new priority; one that waits for its turn joins the others of that priority.
    func prioritize(_ transfer: Transfer) {
        let priority = transfer.task.priority
        guard priority != transfer.priority else { return }
        transfer.priority = priority
        guard case .waiting = transfer.stage else { return }
        // Where it waited before it is passed over.
        transfer.ticket = admission.enqueue(transfer, origin: transfer.head.url.origin, priority: priority)
    }
}
