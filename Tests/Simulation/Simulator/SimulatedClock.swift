@testable import ByteClubSync

/// A machine's clock, which goes on when the simulation says so; an automatic one also when somebody waits for it.
final class SimulatedClock: SyncClock, @unchecked Sendable {
    // Invariant: a simulation runs on one thread.
    private var time = SyncInstant(sinceStart: .zero)
    private var waiters: [Int: (deadline: SyncInstant, continuation: CheckedContinuation<Void, Never>)] = [:]
    private var count = 0
    /// Whether a wait takes no time: the clock is set to its end.
    var isAutomatic = false

    var now: SyncInstant { time }

    /// Sets the clock, never back, and ends the waits whose time has come.
    func advance(to time: SyncInstant) {
        self.time = max(self.time, time)
        let due = waiters.filter { $0.value.deadline <= self.time }.sorted { $0.key < $1.key }
        for (number, waiter) in due {
            waiters[number] = nil
            waiter.continuation.resume()
        }
    }

    func sleep(until deadline: SyncInstant) async throws {
        if isAutomatic {
            await Task.yield()
            try Task.checkCancellation()
            return advance(to: deadline)
        }
        if deadline <= time { return }
        count += 1
        let number = count
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { continuation.resume() } else { waiters[number] = (deadline, continuation) }
            }
        } onCancel: {
            waiters.removeValue(forKey: number)?.continuation.resume()
        }
        try Task.checkCancellation()
    }
}
