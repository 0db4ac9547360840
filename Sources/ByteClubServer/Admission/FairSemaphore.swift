import ByteClubCore
import Synchronization

/// A resource that requests share, such as memory for answers or database readers, with a limit for each requester.
///
/// A part is released with the last reference to its ``Lease``.
final class FairSemaphore: Sendable {
    /// How much there is, and how much of it a requester may have; each share is at least 1.
    struct Bounds: Sendable {
        /// The limit of all requesters together.
        var total: Int
        /// The limit of all strangers together, so that members get the rest.
        var strangers: Int
        /// The limit of one member.
        var member: Int
        /// The limit of one network of strangers.
        var network: Int
        /// How many requests of all requesters may wait in ``FairSemaphore/wait(_:for:)``.
        var queue = 0
        /// How many requests of one requester may wait.
        var queueOfRequester = 0

        /// The share of one requester.
        func share(of requester: Requester) -> Int {
            min(total, requester.isStranger ? min(network, strangers) : member)
        }
    }

    /// A part of the pool.
    final class Lease: Sendable {
        private let held: Mutex<Int>
        private let pool: FairSemaphore
        private let requester: Requester

        fileprivate init(_ pool: FairSemaphore, _ requester: Requester, _ amount: Int) {
            self.pool = pool
            self.requester = requester
            held = Mutex(amount)
        }

        deinit { pool.giveBack(amount, of: requester) }

        /// The size of the part: as requested, or the requester's whole share if that is less, until it is shrunk.
        var amount: Int { held.withLock { $0 } }

        /// Releases the part beyond an amount.
        func shrink(to amount: Int) {
            let rest = held.withLock { held in
                defer { held = min(held, max(0, amount)) }
                return held - min(held, max(0, amount))
            }
            if rest > 0 { pool.giveBack(rest, of: requester) }
        }
    }

    /// The name of the resource in refusals.
    let name: String
    /// How much there is.
    let bounds: Bounds
    private let state: Mutex<FairSemaphoreState>

    /// Creates a pool that is all there.
    init(_ name: String, _ bounds: Bounds) {
        self.name = name
        self.bounds = bounds
        state = Mutex(FairSemaphoreState(bounds))
    }

    /// The amount in use.
    var used: Int { state.withLock { $0.used } }

    /// How many wait.
    var waiting: Int { state.withLock { $0.waiting } }

    /// How often a requester was refused.
    var refusals: Int64 { state.withLock { $0.refusals } }

    /// Acquires a part at once.
    ///
    /// - Throws: ``APIError`` 429 when the requester has its share, 503 when nothing is left.
    func take(_ amount: Int = 1, for requester: Requester) throws(APIError) -> Lease {
        let amount = clamped(amount, requester)
        guard let obstacle = state.withLock({ $0.take(amount, for: requester) }) else {
            return Lease(self, requester, amount)
        }
        throw refusal(obstacle)
    }

    /// Acquires a part, after waiting in a queue that serves the requesters in turn.
    ///
    /// Cancelling the task leaves the queue at once.
    ///
    /// - Throws: ``APIError`` 429 when too many requests of the requester wait, 503 when too many wait in all;
    ///   `CancellationError`.
    func wait(_ amount: Int = 1, for requester: Requester) async throws -> Lease {
        let amount = clamped(amount, requester)
        let ticket = state.withLock { $0.ticket() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let step = state.withLock { state in
                    // A task that was cancelled earlier must not enter the queue, from which its cancellation cannot
                    // remove it.
                    Task.isCancelled
                        ? nil
                        : state.enqueue(
                            .init(ticket: ticket, amount: amount, continuation: continuation), for: requester)
                }
                guard let step else { return continuation.resume(throwing: CancellationError()) }
                if let obstacle = step.obstacle { continuation.resume(throwing: refusal(obstacle)) }
                for served in step.served { served.resume() }
            }
        } onCancel: {
            // Who waited for more than there is may have kept it from others.
            let (gone, served) = state.withLock { ($0.leave(ticket, requester), $0.serve()) }
            gone?.resume(throwing: CancellationError())
            for served in served { served.resume() }
        }
        return Lease(self, requester, amount)
    }

    fileprivate func giveBack(_ amount: Int, of requester: Requester) {
        for waiter in state.withLock({ $0.giveBack(amount, of: requester) }) { waiter.resume() }
    }

    /// A part that is larger than a share would never be there.
    private func clamped(_ amount: Int, _ requester: Requester) -> Int {
        max(0, min(amount, bounds.share(of: requester)))
    }

    private func refusal(_ obstacle: FairSemaphoreState.Obstacle) -> APIError {
        switch obstacle {
        case .share: APIError(429, "too many of your requests need \(name); try again in a moment", retryAfter: 1)
        case .strangers, .total: APIError(503, "the server is out of \(name); try again in a moment", retryAfter: 1)
        }
    }
}
