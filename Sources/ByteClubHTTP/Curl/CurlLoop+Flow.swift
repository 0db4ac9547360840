/// What holds transfers back and lets them go: rate limits, slow readers, and the order of those that wait.
extension CurlLoop {
    /// Lets go whom the rate limit held long enough.
    ///
    /// Of those that the session's limit holds, who waited longest goes first, and only as many as there is credit for:
    /// else libcurl, which asks its handles in an order of its own, would serve the same one each time.
    func unthrottle(at now: Moment) {
        var due = active.values.filter { transfer in
            guard !transfer.isSuspended, let until = transfer.attempt.throttledUntil else { return false }
            return now >= until
        }
        if let turns = throttle.turns(at: now), due.count > turns {
            let order = due.partition { $0.attempt.isHeldBySession }
            due[order...].sort { ($0.attempt.throttledSince ?? now) < ($1.attempt.throttledSince ?? now) }
            let late = min(order + turns, due.count)
            for transfer in due[late...] { transfer.attempt.throttledUntil = now.advanced(by: throttle.turn) }
            due.removeSubrange(late...)
        }
        for transfer in due { unpause(transfer, at: now) }
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
