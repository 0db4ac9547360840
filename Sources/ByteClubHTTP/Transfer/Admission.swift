/// Decides whose turn it is: by priority and first come first served within an origin, origins taking turns, both
/// counts limited.
///
/// A session may have thousands of tasks waiting; libcurl only ever sees those admitted here, because each of its
/// handles costs kilobytes and a look at every turn of the loop.
struct Admission<Element> {
    typealias Priority = SessionTask.Priority

    /// Whose turn it is, and what for it was queued.
    struct Turn {
        var element: Element
        var priority: Priority
    }

    private struct Lane {
        var high = FIFO<Element>()
        var normal = FIFO<Element>()
        var low = FIFO<Element>()
        var active = 0
        var isListed = false
        /// How many turns were given while several priorities waited.
        var contested = 0

        var isEmpty: Bool { normal.isEmpty && high.isEmpty && low.isEmpty }

        subscript(priority: Priority) -> FIFO<Element> {
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
        mutating func popFirst() -> Turn? {
            let waiting = Priority.allCases.filter { !self[$0].isEmpty }
            guard var priority = waiting.first else { return nil }
            if waiting.count > 1 {
                contested = (contested + 1) % 8
                if contested == 4, waiting.contains(.normal) { priority = .normal }
                if contested == 0, waiting.contains(.low) { priority = .low }
            }
            return self[priority].popFirst().map { Turn(element: $0, priority: priority) }
        }
    }

    let perOrigin: Int
    let total: Int
    private(set) var active = 0
    private(set) var waiting = 0
    private var lanes: [Origin: Lane] = [:]
    private var ready = FIFO<Origin>()

    init(perOrigin: Int, total: Int) {
        self.perOrigin = max(perOrigin, 1)
        self.total = max(total, 1)
    }

    /// Adds an element behind the others of its origin and priority, or before them if it had its turn already.
    mutating func enqueue(_ element: Element, origin: Origin, priority: Priority = .normal, first: Bool = false) {
        waiting += 1
        if first {
            lanes[origin, default: Lane()][priority].prepend(element)
        } else {
            lanes[origin, default: Lane()][priority].append(element)
        }
        list(origin)
    }

    /// The next element that may start now; ``release(_:)`` must follow when it ends.
    mutating func next() -> Turn? {
        guard active < total, let origin = ready.popFirst() else { return nil }
        lanes[origin]?.isListed = false
        guard let turn = lanes[origin]?.popFirst() else { return nil }
        lanes[origin]?.active += 1
        active += 1
        waiting -= 1
        list(origin)
        return turn
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
