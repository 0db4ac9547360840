/// Who has how much of a ``SharedPool``, and who waits for it: decides, and resumes nobody itself.
struct SharedPoolState {
    typealias Continuation = CheckedContinuation<Void, any Error>

    /// Why a part cannot be had now.
    enum Obstacle {
        /// The party has its share.
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

    /// What follows from a change.
    struct Step {
        /// Who has what they waited for.
        var served: [Continuation] = []
        /// Why the newcomer cannot wait.
        var obstacle: Obstacle?
        /// Why the newcomer need not wait any more.
        var refused: (any Error)?
    }

    private let bounds: SharedPool.Bounds
    private(set) var used = 0
    private(set) var waiting = 0
    private(set) var refusals: Int64 = 0
    private var usedByStrangers = 0
    private var parts: [Party: Int] = [:]
    private var queues: [Party: [Waiter]] = [:]
    /// The parties that wait, whose turn is next first.
    private var turns: [Party] = []
    private var lastTicket: UInt64 = 0

    init(_ bounds: SharedPool.Bounds) {
        self.bounds = bounds
    }

    /// A name for a request that is going to wait.
    mutating func ticket() -> UInt64 {
        lastTicket += 1
        return lastTicket
    }

    /// Takes a part; nil when it is there, otherwise why it is not.
    mutating func take(_ amount: Int, for party: Party) -> Obstacle? {
        if let obstacle = obstacle(amount, party) {
            refusals += 1
            return obstacle
        }
        grant(amount, party)
        return nil
    }

    /// Lets a request wait for its turn, which may be at once.
    mutating func enqueue(_ waiter: Waiter, for party: Party) -> Step {
        if queues[party] == nil { turns.append(party) }
        queues[party, default: []].append(waiter)
        waiting += 1
        var step = Step(served: serve())
        guard let ahead = queues[party]?.firstIndex(where: { $0.ticket == waiter.ticket }) else { return step }
        if ahead >= bounds.queueOfParty {
            step.obstacle = .share
        } else if waiting > bounds.queue {
            step.obstacle = .total
        } else {
            return step
        }
        refusals += 1
        _ = leave(waiter.ticket, party)
        return step
    }

    /// Takes a request out of the queue; nil when it is not there.
    mutating func leave(_ ticket: UInt64, _ party: Party) -> Continuation? {
        guard let index = queues[party]?.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        return dequeue(party, at: index)?.continuation
    }

    /// Takes a part back, and tells whose turn has come.
    mutating func giveBack(_ amount: Int, of party: Party) -> [Continuation] {
        used -= amount
        if party.isStranger { usedByStrangers -= amount }
        let rest = parts[party, default: 0] - amount
        parts[party] = rest > 0 ? rest : nil
        return serve()
    }

    /// Gives parts to those who wait, one party after the other, as far as there are any; tells who got theirs.
    mutating func serve() -> [Continuation] {
        var served: [Continuation] = []
        var index = 0
        while index < turns.count {
            let party = turns[index]
            guard let first = queues[party]?.first else { break }
            switch obstacle(first.amount, party) {
            case .total: return served  // What is left is kept for whose turn it is.
            case .share, .strangers: index += 1
            case nil:
                grant(first.amount, party)
                _ = dequeue(party, at: 0)
                if queues[party] != nil {
                    turns.remove(at: index)
                    turns.append(party)
                }
                served.append(first.continuation)
            }
        }
        return served
    }

    private mutating func dequeue(_ party: Party, at index: Int) -> Waiter? {
        let waiter = queues[party]?.remove(at: index)
        waiting -= 1
        if queues[party]?.isEmpty == true {
            queues[party] = nil
            turns.removeAll { $0 == party }
        }
        return waiter
    }

    private func obstacle(_ amount: Int, _ party: Party) -> Obstacle? {
        if parts[party, default: 0] + amount > bounds.share(of: party) { return .share }
        if party.isStranger, usedByStrangers + amount > bounds.strangers { return .strangers }
        return used + amount > bounds.total ? .total : nil
    }

    private mutating func grant(_ amount: Int, _ party: Party) {
        used += amount
        if party.isStranger { usedByStrangers += amount }
        parts[party, default: 0] += amount
    }
}
