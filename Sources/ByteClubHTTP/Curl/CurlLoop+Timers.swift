import CLibcurl

/// Timeouts, rate limits and suspension.
///
/// There is no timer heap. When the earliest deadline may have passed, all transfers are checked, at most every few
/// milliseconds. Bytes only push deadlines back, which costs nothing until the next check.
extension CurlLoop {
    private static let grain: Duration = .milliseconds(5)

    func checkTimers(at now: Moment) {
        if now >= nextActiveCheck { checkActive(at: now) }
        if now >= nextWaitingCheck { checkWaiting(at: now) }
        if now >= nextReport { report(at: now) }
    }

    /// When the loop has to check its timers next.
    var nextCheck: Moment {
        var next = min(nextActiveCheck, nextWaitingCheck)
        // Computed on each call, so that the loop does not wake up for progress already reported.
        nextReport = .distantFuture
        for transfer in active.values {
            if transfer.attempt.throttledUntil != nil { next = min(next, deadline(of: transfer)) }
            nextReport = min(nextReport, transfer.meter.due)
        }
        nextActiveCheck = min(nextActiveCheck, next)
        return min(next, nextReport)
    }

    private func report(at now: Moment) {
        nextReport = .distantFuture
        for transfer in active.values where transfer.meter.due <= now {
            transfer.meter.takeDue(at: now)
            transfer.task.publish(transfer.meter.progress)
        }
    }

    /// The next time at which an active transfer needs a check.
    func deadline(of transfer: Transfer) -> Moment {
        if transfer.isSuspended { return .distantFuture }
        if transfer.heldSince != nil { return transfer.attempt.throttledUntil ?? .distantFuture }
        let throttled =
            transfer.attempt.throttledUntil ?? transfer.attempt.lastActivity.advanced(by: transfer.idleLimit)
        return min(throttled, transfer.resourceDeadline)
    }

    private func checkActive(at now: Moment) {
        var next = Moment.distantFuture
        unthrottle(at: now)
        for transfer in active.values {
            if !transfer.isSuspended, transfer.heldSince == nil {
                if now >= transfer.resourceDeadline {
                    timeOut(transfer, "the request took too long", at: now)
                    continue
                }
                // Bytes may have come while the program was stopped, so that the sockets were not read.
                if transfer.attempt.throttledUntil == nil,
                    readAt >= transfer.attempt.lastActivity.advanced(by: transfer.idleLimit)
                {
                    timeOut(transfer, "nothing moved for \(transfer.idleLimit)", at: now)
                    continue
                }
            }
            next = min(next, deadline(of: transfer))
        }
        nextActiveCheck = next == .distantFuture ? next : max(next, now.advanced(by: Self.grain))
    }

    private func checkWaiting(at now: Moment) {
        var next = Moment.distantFuture
        for transfer in live.values where !transfer.isActive && !transfer.isSuspended {
            if now >= transfer.resourceDeadline {
                timeOut(transfer, transfer.overdue, at: now)
                continue
            }
            next = min(next, transfer.resourceDeadline)
            if case .delayed(let due) = transfer.stage {
                if now >= due { begin(transfer, at: now) } else { next = min(next, due) }
            }
        }
        nextWaitingCheck = next == .distantFuture ? next : max(next, now.advanced(by: Self.grain))
    }

    private func timeOut(_ transfer: Transfer, _ message: String, at now: Moment) {
        finish(transfer, .failure(transfer.error(.timedOut, message, phase: transfer.phase)), at: now)
    }

    func suspend(_ transfer: Transfer, at now: Moment) {
        guard !transfer.isSuspended else { return }
        endHold(of: transfer, at: now)
        transfer.isSuspended = true
        transfer.suspendedAt = now
        // Without a handle there is nothing to pause yet; the callbacks will pause the transfer.
        if let easy = transfer.attempt.easy { _ = unsafe byteclub_curl_easy_pause(easy.pointer, CURLPAUSE_ALL) }
    }

    func resume(_ transfer: Transfer, at now: Moment) {
        guard transfer.isSuspended else { return }
        transfer.isSuspended = false
        transfer.resourceDeadline = transfer.resourceDeadline.advanced(by: transfer.suspendedAt.duration(to: now))
        switch transfer.stage {
        case .parked: requeue(transfer)
        case .delayed(let due): nextWaitingCheck = min(nextWaitingCheck, due)
        case .active:
            unpause(transfer, at: now)
            nextActiveCheck = min(nextActiveCheck, deadline(of: transfer))
        case .waiting, .retired, .asking, .finished: break
        }
        nextWaitingCheck = min(nextWaitingCheck, transfer.resourceDeadline)
    }

    /// Resumes sending a body whose stream had no bytes ready.
    func sendMore(_ transfer: Transfer, at now: Moment) {
        guard transfer.isActive, !transfer.isSuspended, transfer.attempt.throttledUntil == nil,
            let easy = transfer.attempt.easy
        else { return }
        goOn(transfer, easy, at: now)
    }

    func unpause(_ transfer: Transfer, at now: Moment) {
        transfer.attempt.throttledUntil = nil
        transfer.attempt.lastActivity = now
        if let easy = transfer.attempt.easy { goOn(transfer, easy, at: now) }
    }

    /// Unpauses a transfer.
    ///
    /// libcurl delivers the body bytes it holds within this call, and may report an error.
    private func goOn(_ transfer: Transfer, _ easy: EasyHandle, at now: Moment) {
        let code = unsafe byteclub_curl_easy_pause(easy.pointer, CURLPAUSE_CONT)
        if code != CURLE_OK, let failure = transfer.attempt.failure { finish(transfer, .failure(failure), at: now) }
    }
}

extension Transfer {
    /// The message of a transfer outside the multi handle whose time is over.
    fileprivate var overdue: String {
        if case .parked = stage, let obstacle { return "no allowed network in time: \(obstacle)" }
        if isOffline { return "no network in time" }
        return trust?.awaited == nil ? "the request took too long" : "the trust evaluator did not answer in time"
    }
}

/// Rate limits, slow readers and priorities.
extension CurlLoop {
    /// Resumes the transfers whose wait for a rate limit has ended.
    ///
    /// When the session's limit has credit, the transfers that have waited longest resume first, and only as many as
    /// the credit allows. If each resumed at its own time, one would always win: the first in libcurl's order, or the
    /// one served last, whose wait is the most accurate.
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

    /// Resumes transfers that wait for the session's limit in one direction, once one of them is due; nil for no limit.
    private func letGo(of waiting: [Transfer], turns: (count: Int, next: Duration)?, at now: Moment) {
        guard waiting.contains(where: { ($0.attempt.throttledUntil ?? .distantFuture) <= now }) else { return }
        let queue = waiting.sorted { ($0.attempt.throttledSince ?? now) < ($1.attempt.throttledSince ?? now) }
        let (count, next) = turns ?? (queue.count, .zero)
        for transfer in queue.prefix(count) { unpause(transfer, at: now) }
        for transfer in queue.dropFirst(count) { transfer.attempt.throttledUntil = now.advanced(by: next) }
    }

    /// Changes the session's rate limit; transfers that wait for the old one check the new one at once.
    func limit(_ rate: Int?, at now: Moment) {
        throttle.set(rate, at: now)
        for transfer in active.values where transfer.attempt.throttledUntil != nil {
            transfer.attempt.throttledUntil = now
            nextActiveCheck = now
        }
    }

    /// Resumes a transfer whose reader has room again.
    func release(_ transfer: Transfer, at now: Moment) {
        guard transfer.heldSince != nil, !transfer.isSuspended else { return }
        endHold(of: transfer, at: now)
        unpause(transfer, at: now)
        nextActiveCheck = min(nextActiveCheck, deadline(of: transfer))
    }

    /// Extends a transfer's deadline by the time it waited for its reader.
    func endHold(of transfer: Transfer, at now: Moment) {
        guard let since = transfer.heldSince else { return }
        transfer.heldSince = nil
        transfer.resourceDeadline = transfer.resourceDeadline.advanced(by: since.duration(to: now))
    }

    /// Applies a task's new priority; a waiting transfer moves to the end of that priority's queue.
    func prioritize(_ transfer: Transfer) {
        let priority = transfer.task.priority
        guard priority != transfer.priority else { return }
        transfer.priority = priority
        guard case .waiting = transfer.stage else { return }
        // Its old entry has another ticket and is skipped.
        transfer.ticket = admission.enqueue(transfer, origin: transfer.head.url.origin, priority: priority)
    }
}
