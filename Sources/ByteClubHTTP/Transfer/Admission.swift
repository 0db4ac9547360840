/// Decides whose turn it is: by priority and first come first served within an origin, origins taking turns, both
/// counts limited.
///
/// A session may have thousands of tasks waiting; libcurl only ever sees those admitted here, because each of its
/// handles costs kilobytes and a look at every turn of the loop. Belongs to the loop's thread.
final class Admission<Element> {
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

    private final class Lane {
        let origin: Origin
        var waiting = PriorityLanes<Entry>()
        var active = 0
        var isListed = false

        init(_ origin: Origin) { self.origin = origin }
    }

    let perOrigin: Int
    let total: Int
    private(set) var active = 0
    private(set) var waiting = 0
    private var lanes: [Origin: Lane] = [:]
    private var ready = FIFO<Lane>()
    private var lastTicket: UInt64 = 0

    /// How many lanes are kept, so that a lone request to the same origin need not make its lane anew.
    private static var mostIdleLanes: Int { 16 }

    init(perOrigin: Int, total: Int) {
        self.perOrigin = max(perOrigin, 1)
        self.total = max(total, 1)
    }

    /// Adds an element behind the others of its origin and priority, or before them if it had its turn already.
    ///
    /// - Returns: The number that its turn will have.
    @discardableResult
    func enqueue(_ element: Element, origin: Origin, priority: Priority = .normal, first: Bool = false) -> UInt64 {
        waiting += 1
        lastTicket += 1
        let lane = lane(of: origin)
        lane.waiting.add((element, lastTicket), priority: priority, first: first)
        list(lane)
        return lastTicket
    }

    /// The next element that may start now; ``release(_:)`` with its origin must follow when it ends.
    func next() -> Turn? {
        guard active < total, let lane = ready.popFirst() else { return nil }
        lane.isListed = false
        guard let entry = lane.waiting.popFirst() else { return nil }
        lane.active += 1
        active += 1
        waiting -= 1
        list(lane)
        return Turn(element: entry.element, ticket: entry.ticket, origin: lane.origin)
    }

    /// Says that an element of this origin ended.
    func release(_ origin: Origin) {
        precondition(active > 0, "nothing was admitted that could end")
        active -= 1
        guard let lane = lanes[origin] else { return }
        lane.active -= 1
        if lane.active == 0, lane.waiting.isEmpty {
            if lanes.count > Self.mostIdleLanes { lanes[origin] = nil }
        } else {
            list(lane)
        }
    }

    private func lane(of origin: Origin) -> Lane {
        if let lane = lanes[origin] { return lane }
        let lane = Lane(origin)
        lanes[origin] = lane
        return lane
    }

    private func list(_ lane: Lane) {
        guard !lane.isListed, lane.active < perOrigin, !lane.waiting.isEmpty else { return }
        lane.isListed = true
        ready.append(lane)
    }
}
