/// Decides whose turn it is: first come first served within an origin, origins taking turns, both counts limited.
///
/// A session may have thousands of tasks waiting; libcurl only ever sees those admitted here, because each of its
/// handles costs kilobytes and a look at every turn of the loop.
struct Admission<Element> {
    private struct Lane {
        var waiting = FIFO<Element>()
        var active = 0
        var isListed = false
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

    /// Adds an element behind the others of its origin, or before them if it had its turn already.
    mutating func enqueue(_ element: Element, origin: Origin, first: Bool = false) {
        waiting += 1
        if first {
            lanes[origin, default: Lane()].waiting.prepend(element)
        } else {
            lanes[origin, default: Lane()].waiting.append(element)
        }
        list(origin)
    }

    /// The next element that may start now; ``release(_:)`` must follow when it ends.
    mutating func next() -> Element? {
        guard active < total, let origin = ready.popFirst() else { return nil }
        lanes[origin]?.isListed = false
        guard let element = lanes[origin]?.waiting.popFirst() else { return nil }
        lanes[origin]?.active += 1
        active += 1
        waiting -= 1
        list(origin)
        return element
    }

    /// Says that an element of this origin ended.
    mutating func release(_ origin: Origin) {
        precondition(active > 0, "nothing was admitted that could end")
        active -= 1
        lanes[origin]?.active -= 1
        if let lane = lanes[origin], lane.active == 0, lane.waiting.isEmpty {
            lanes[origin] = nil
        } else {
            list(origin)
        }
    }

    private mutating func list(_ origin: Origin) {
        guard let lane = lanes[origin], !lane.isListed, !lane.waiting.isEmpty, lane.active < perOrigin else { return }
        lanes[origin]?.isListed = true
        ready.append(origin)
    }
}
