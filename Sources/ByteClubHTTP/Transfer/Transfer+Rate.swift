/// Rate limits of a transfer: its own and the session's.
extension Transfer {
    /// The lower of its own rate and the session's; nil for no limit.
    var rateLimit: Int? {
        guard let shared = sessionThrottle.rate else { return task.options.rateLimit }
        return min(shared, task.options.rateLimit ?? shared)
    }

    /// The number of bytes that may be sent now, up to `wanted`; nil if the transfer has to wait, which is recorded.
    ///
    /// The caller reports the bytes sent to ``noteSent(_:)``.
    func sendable(_ wanted: Int, at now: Moment) -> Int? {
        if sendThrottle == nil, sessionThrottle.send == nil { return wanted }
        var count = wanted
        var longest: Duration?
        let shared = sessionThrottle.send?.offer(wanted, at: now)
        for grant in [sendThrottle?.offer(wanted, at: now), shared] {
            switch grant {
            case .move(let most): count = min(count, most)
            case .wait(let time): longest = max(longest ?? .zero, time)
            case nil: break
            }
        }
        if let longest {
            let isShared = shared == .wait(longest)
            wait(longest, heldBySession: isShared ? .sending : nil, at: now)
            return nil
        }
        attempt.throttledSince = nil
        return count
    }

    /// Counts bytes of a body as sent.
    func noteSent(_ count: Int) {
        sendThrottle?.spend(count)
        sessionThrottle.send?.spend(count)
    }

    /// Whether a received chunk may pass now; if not, the wait is recorded.
    func mayReceive(_ size: Int, at now: Moment) -> Bool {
        if receiveThrottle == nil, sessionThrottle.receive == nil { return true }
        let own = receiveThrottle?.waitForWhole(at: now)
        let shared = sessionThrottle.receive?.waitForWhole(at: now)
        if let longest = [own, shared].compactMap({ $0 }).max() {
            wait(longest, heldBySession: shared == longest ? .receiving : nil, at: now)
            return false
        }
        receiveThrottle?.spend(size)
        sessionThrottle.receive?.spend(size)
        attempt.throttledSince = nil
        return true
    }

    private func wait(_ time: Duration, heldBySession direction: Attempt.Direction?, at now: Moment) {
        attempt.heldBySession = direction
        attempt.throttledSince = attempt.throttledSince ?? now
        attempt.throttledUntil = min(attempt.throttledUntil ?? .distantFuture, now.advanced(by: time))
    }
}
