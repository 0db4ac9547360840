/// Admits waiting elements: by priority and arrival within an origin, round-robin between origins, with limits per
/// origin and in total.
///
/// A session may have thousands of waiting tasks. libcurl only gets the admitted ones, since each of its handles costs
/// kilobytes and time in every turn of the loop. Used only on the loop's thread.
final class Admission<Element> {
    typealias Priority = SessionTask.Priority

    /// An admitted element.
    struct Turn {
        var element: Element
        /// The number from ``enqueue(_:origin:priority:first:)``; an element that was queued again leaves an entry with
        /// an old number behind.
        var ticket: UInt64
        /// The origin whose slot is occupied until it is released.
        var origin: Origin
    }

    private typealias Entry = (element: Element, ticket: UInt64)

    private final class Lane {
        let origin: Origin
        var waiting = PriorityLanes<Entry>()
        var active = 0
        var isListed = false
        var isHeld = false

        init(_ origin: Origin) { self.origin = origin }
    }

    let perOrigin: Int
    let total: Int
    private(set) var active = 0
    private(set) var waiting = 0
    private var lanes: [Origin: Lane] = [:]
    /// The lane of the last request, which the next one usually needs.
    private var recent: Lane?
    private var ready = FIFO<Lane>()
    private var lastTicket: UInt64 = 0

    /// The number of idle lanes kept, so that single requests to one origin reuse their lane.
    private static var mostIdleLanes: Int { 16 }

    init(perOrigin: Int, total: Int) {
        self.perOrigin = max(perOrigin, 1)
        self.total = max(total, 1)
    }

    /// Queues an element at the end of its origin and priority, or at the front if admitted before; returns its ticket.
    @discardableResult
    func enqueue(_ element: Element, origin: Origin, priority: Priority = .normal, first: Bool = false) -> UInt64 {
        waiting += 1
        lastTicket += 1
        let lane = lane(of: origin)
        lane.waiting.add((element, lastTicket), priority: priority, first: first)
        list(lane)
        return lastTicket
    }

    /// The next element that may start; ``release(_:)`` with its origin must follow when it ends.
    func next() -> Turn? {
        while active < total, let lane = ready.popFirst() {
            lane.isListed = false
            if lane.isHeld { continue }
            guard let entry = lane.waiting.popFirst() else { return nil }
            lane.active += 1
            active += 1
            waiting -= 1
            list(lane)
            return Turn(element: entry.element, ticket: entry.ticket, origin: lane.origin)
        }
        return nil
    }

    /// Admits no element of this origin until ``letGo(_:)``.
    func hold(_ origin: Origin) { lane(of: origin).isHeld = true }

    /// Admits the elements of an origin again.
    func letGo(_ origin: Origin) {
        guard let lane = lanes[origin] else { return }
        lane.isHeld = false
        list(lane)
        forget(lane)
    }

    /// Frees the slot of an element of this origin that ended.
    func release(_ origin: Origin) {
        precondition(active > 0, "nothing was admitted that could end")
        active -= 1
        guard let lane = existingLane(of: origin) else { return }
        lane.active -= 1
        list(lane)
        forget(lane)
    }

    /// Removes a lane that has nothing to do, if there are many.
    private func forget(_ lane: Lane) {
        guard lanes.count > Self.mostIdleLanes, lane.active == 0, !lane.isHeld, lane.waiting.isEmpty else { return }
        lanes[lane.origin] = nil
        recent = nil
    }

    private func lane(of origin: Origin) -> Lane {
        if let lane = existingLane(of: origin) { return lane }
        let lane = Lane(origin)
        lanes[origin] = lane
        return lane
    }

    /// The lane of an origin, if there is one; the last one found is remembered.
    private func existingLane(of origin: Origin) -> Lane? {
        if let recent, recent.origin == origin { return recent }
        recent = lanes[origin]
        return recent
    }

    private func list(_ lane: Lane) {
        guard !lane.isListed, !lane.isHeld, lane.active < perOrigin, !lane.waiting.isEmpty else { return }
        lane.isListed = true
        ready.append(lane)
    }
}

/// A queue with priorities, in arrival order within each, without starvation.
struct PriorityLanes<Element> {
    typealias Priority = SessionTask.Priority

    /// The most urgent first, as ``SessionTask/Priority`` numbers them.
    private var queues = [FIFO<Element>](repeating: FIFO(), count: Priority.allCases.count)
    /// The number of turns in which several priorities were waiting.
    private var contested = 0

    var isEmpty: Bool { queues.allSatisfy(\.isEmpty) }

    /// Adds an element at the end of its priority, or at the front if it was admitted before.
    mutating func add(_ element: Element, priority: Priority, first: Bool = false) {
        if first {
            queues[priority.rawValue].prepend(element)
        } else {
            queues[priority.rawValue].append(element)
        }
    }

    /// Removes the next element: the most urgent one, but of eight contested turns one is for normal and one for low
    /// priority.
    mutating func popFirst() -> Element? {
        guard var index = queues.firstIndex(where: { !$0.isEmpty }) else { return nil }
        if queues[(index + 1)...].contains(where: { !$0.isEmpty }) {
            contested = (contested + 1) % 8
            let favoured = contested == 4 ? Priority.normal : contested == 0 ? .low : nil
            if let favoured, !queues[favoured.rawValue].isEmpty { index = favoured.rawValue }
        }
        return queues[index].popFirst()
    }
}

extension PriorityLanes: Sendable where Element: Sendable {}

/// A queue with constant-time ends.
struct FIFO<Element> {
    private var front: [Element] = []
    private var back: [Element] = []

    var isEmpty: Bool { front.isEmpty && back.isEmpty }
    var count: Int { front.count + back.count }

    mutating func append(_ element: Element) { back.append(element) }

    mutating func prepend(_ element: Element) { front.append(element) }

    mutating func popFirst() -> Element? {
        if let element = front.popLast() { return element }
        if back.count == 1 { return back.popLast() }
        swap(&front, &back)
        front.reverse()
        return front.popLast()
    }
}

extension FIFO: Sendable where Element: Sendable {}
