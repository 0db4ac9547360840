import Synchronization

/// Lets tests await that something becomes true.
final class Changes: Sendable {
    private let waiters = Mutex<[CheckedContinuation<Void, Never>]>([])

    /// Reports a change.
    func notify() {
        let all = waiters.withLock { waiters in
            defer { waiters = [] }
            return waiters
        }
        for waiter in all { waiter.resume() }
    }

    /// Returns once the condition holds; it is looked at after every change.
    func wait(until condition: @Sendable () -> Bool) async {
        while true {
            await withCheckedContinuation { waiter in
                waiters.withLock { $0.append(waiter) }
                if condition() { notify() }
            }
            if condition() { return }
        }
    }
}
