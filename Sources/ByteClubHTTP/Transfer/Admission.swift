/// Decides whose turn it is: by priority and first come first served within an origin, origins taking turns, both
/// counts limited.
///
/// A session may have thousands of tasks waiting; libcurl only ever sees those admitted here, because each of its
/// handles costs kilobytes and a look at every turn of the loop.
struct Admission<Element> {
    typealias Priority = SessionTask.Priority

    /// Whose turn it is.
    struct Turn {
        var element: Element
        /// The number that ``enqueue(_:origin:priority:first:)`` gave: who is queued anew leaves an old one behind.
        var ticket: UInt64
        /// Whose turn is used, until it is released.
        var origin: Origin
    }

    private typealias Entry = (element: Element, ticket: UInt64)

    private struct Lane {
        var high = FIFO<Entry>()
        var normal = FIFO<Entry>()
        var low = FIFO<Entry>()
        var active = 0
        var isListed = false
        /// How many turns were given while several priorities waited.
        var contested = 0

        var isEmpty: Bool { normal.isEmpty && high.isEmpty && low.isEmpty }

        subscript(priority: Priority) -> FIFO<Entry> {
            get {
                switch priority {
                case .high: high
                case .normal: normal
                case .low: low
                }
            }
            _modify {
                switch priority {
                case .high: yield &high
                case .normal: yield &normal
                case .low: yield &low
                }
            }
        }

        /// Takes the next: the most urgent, but of eight contested turns one goes to the normal and one to the low.
        mutating func popFirst() -> Entry? {
            let waiting = Priority.allCases.filter { !self[$0].isEmpty }
            guard var priority = waiting.first else { return nil }
            if waiting.count > 1 {
                contested = (contested + 1) % 8
                if contested == 4, waiting.contains(.normal) { priority = .normal }
                if contested == 0, waiting.contains(.low) { priority = .low }
            }
            return self[priority].popFirst()
        }
    }

    let perOrigin: Int
    let total: Int
    private(set) var active = 0
    private(set) var waiting = 0
    private var lanes: [Origin: Lane] = [:]
    private var ready = FIFO<Origin>()
    private var lastTicket: UInt64 = 0

    init(perOrigin: Int, total: Int) {
        self.perOrigin = max(perOrigin, 1)
        self.total = max(total, 1)
    }

    /// Adds an element behind the others of its origin and priority, or before them if it had its turn already.
    ///
    /// - Returns: The number that its turn will have.
    @discardableResult
    mutating func enqueue(_ element: Element, origin: Origin, priority: Priority = .normal, first: Bool = false)
        -> UInt64
    {
        waiting += 1
        lastTicket += 1
        if first {
            lanes[origin, default: Lane()][priority].prepend((element, lastTicket))
        } else {
            lanes[origin, default: Lane()][priority].append((element, lastTicket))
        }
        list(origin)
        return lastTicket
    }

    /// The next element that may start now; ``release(_:)`` with its origin must follow when it ends.
    mutating func next() -> Turn? {
        guard active < total, let origin = ready.popFirst() else { return nil }
        lanes[origin]?.isListed = false
        guard let entry = lanes[origin]?.popFirst() else { return nil }
        lanes[origin]?.active += 1
        active += 1
        waiting -= 1
        list(origin)
        return Turn(element: entry.element, ticket: entry.ticket, origin: origin)
    }

    /// Says that an element of this origin ended.
    mutating func release(_ origin: Origin) {
        precondition(active > 0, "nothing was admitted that could end")
        active -= 1
        lanes[origin]?.active -= 1
        if let lane = lanes[origin], lane.active == 0, lane.isEmpty {
            lanes[origin] = nil
        } else {
            list(origin)
        }
    }

    private mutating func list(_ origin: Origin) {
        guard let lane = lanes[origin], !lane.isListed, !lane.isEmpty, lane.active < perOrigin else { return }
        lanes[origin]?.isListed = true
        ready.append(origin)
    }
}
