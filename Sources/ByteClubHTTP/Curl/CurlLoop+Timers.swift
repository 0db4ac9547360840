import CLibcurl

/// Timeouts, rate limits and suspension.
///
/// There is no heap of timers: the transfers are looked through when the earliest deadline may have come, at most
/// every few milliseconds. Bytes that move only push deadlines back, which costs nothing until then.
extension CurlLoop {
    private static let grain: Duration = .milliseconds(5)

    func checkTimers(at now: Moment) {
        if now >= nextActiveCheck { checkActive(at: now) }
        if now >= nextWaitingCheck { checkWaiting(at: now) }
        if now >= nextReport { report(at: now) }
    }

    /// When the loop has to look at its timers next.
    var nextCheck: Moment {
        var next = min(nextActiveCheck, nextWaitingCheck)
        // Told anew each time, so that the loop does not wake up for what was told meanwhile.
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

    /// The next moment at which an active transfer needs looking after.
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
                if transfer.attempt.throttledUntil == nil,
                    now >= transfer.attempt.lastActivity.advanced(by: transfer.idleLimit)
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
                timeOut(transfer, "the request took too long", at: now)
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
        // Without a connection there is nothing to pause yet; the callbacks will hold it.
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

    /// Goes on with a body whose stream had nothing.
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

    /// Unpauses a transfer; what libcurl holds of its body comes at once, and so may an error.
    private func goOn(_ transfer: Transfer, _ easy: EasyHandle, at now: Moment) {
        let code = unsafe byteclub_curl_easy_pause(easy.pointer, CURLPAUSE_CONT)
        if code != CURLE_OK, let failure = transfer.attempt.failure { finish(transfer, .failure(failure), at: now) }
    }
}
