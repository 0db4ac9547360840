/// The parts and the queue of a ``FairSemaphore``; it decides, and returns the continuations to resume.
struct FairSemaphoreState {
    typealias Continuation = CheckedContinuation<Void, any Error>

    /// Why a part cannot be had now.
    enum Obstacle {
        /// The requester has its share.
        case share
        /// Strangers have theirs.
        case strangers
        /// There is not so much left.
        case total
    }

    /// A request in the queue.
    struct Waiter {
        let ticket: UInt64
        let amount: Int
        let continuation: Continuation
    }

    private let bounds: FairSemaphore.Bounds
    private(set) var used = 0
    private(set) var waiting = 0
    private(set) var refusals: Int64 = 0
    private var usedByStrangers = 0
    private var parts: [Requester: Int] = [:]
    private var queues: [Requester: [Waiter]] = [:]
    /// The requesters that wait, whose turn is next first.
    private var turns: [Requester] = []
    private var lastTicket: UInt64 = 0

    init(_ bounds: FairSemaphore.Bounds) {
        self.bounds = bounds
    }

    /// A name for a request that is going to wait.
    mutating func ticket() -> UInt64 {
        lastTicket += 1
        return lastTicket
    }

    /// Acquires a part; returns nil, or the reason why it is not available.
    mutating func take(_ amount: Int, for requester: Requester) -> Obstacle? {
        if let obstacle = obstacle(amount, requester) {
            refusals += 1
            return obstacle
        }
        grant(amount, requester)
        return nil
    }

    /// Lets a request wait for its turn, which may be at once; returns the requests that are served by this, and why
    /// the newcomer cannot wait, if it cannot.
    mutating func enqueue(
        _ waiter: Waiter, for requester: Requester
    ) -> (served: [Continuation], obstacle: Obstacle?) {
        if queues[requester] == nil { turns.append(requester) }
        queues[requester, default: []].append(waiter)
        waiting += 1
        let served = serve()
        guard let ahead = queues[requester]?.firstIndex(where: { $0.ticket == waiter.ticket }),
            ahead >= bounds.queueOfRequester || waiting > bounds.queue
        else { return (served, nil) }
        refusals += 1
        _ = leave(waiter.ticket, requester)
        return (served, ahead >= bounds.queueOfRequester ? .share : .total)
    }

    /// Removes a request from the queue; nil when it is not there.
    mutating func leave(_ ticket: UInt64, _ requester: Requester) -> Continuation? {
        guard let index = queues[requester]?.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        return dequeue(requester, at: index)?.continuation
    }

    /// Releases a part, and returns the requests that are served by it.
    mutating func giveBack(_ amount: Int, of requester: Requester) -> [Continuation] {
        used -= amount
        if requester.isStranger { usedByStrangers -= amount }
        let rest = parts[requester, default: 0] - amount
        parts[requester] = rest > 0 ? rest : nil
        return serve()
    }

    /// Gives parts to waiting requests, one requester after the other, as far as there are any; returns the served
    /// ones.
    mutating func serve() -> [Continuation] {
        var served: [Continuation] = []
        var index = 0
        while index < turns.count {
            let requester = turns[index]
            guard let first = queues[requester]?.first else { break }
            switch obstacle(first.amount, requester) {
            case .total: return served  // The rest is reserved for the next in turn.
            case .share, .strangers: index += 1
            case nil:
                grant(first.amount, requester)
                _ = dequeue(requester, at: 0)
                if queues[requester] != nil {
                    turns.remove(at: index)
                    turns.append(requester)
                }
                served.append(first.continuation)
            }
        }
        return served
    }

    private mutating func dequeue(_ requester: Requester, at index: Int) -> Waiter? {
        let waiter = queues[requester]?.remove(at: index)
        waiting -= 1
        if queues[requester]?.isEmpty == true {
            queues[requester] = nil
            turns.removeAll { $0 == requester }
        }
        return waiter
    }

    private func obstacle(_ amount: Int, _ requester: Requester) -> Obstacle? {
        if parts[requester, default: 0] + amount > bounds.share(of: requester) { return .share }
        if requester.isStranger, usedByStrangers + amount > bounds.strangers { return .strangers }
        return used + amount > bounds.total ? .total : nil
    }

    private mutating func grant(_ amount: Int, _ requester: Requester) {
        used += amount
        if requester.isStranger { usedByStrangers += amount }
        parts[requester, default: 0] += amount
    }
}
