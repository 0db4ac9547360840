/// What waits for its turn: by priority and first come first served within one, but nobody starves.
struct PriorityLanes<Element> {
    typealias Priority = SessionTask.Priority

    /// The most urgent first, as ``SessionTask/Priority`` numbers them.
    private var queues = [FIFO<Element>](repeating: FIFO(), count: Priority.allCases.count)
    /// How many turns were given while several priorities waited.
    private var contested = 0

    var isEmpty: Bool { queues.allSatisfy(\.isEmpty) }

    /// Adds an element behind the others of its priority, or before them if it had its turn already.
    mutating func add(_ element: Element, priority: Priority, first: Bool = false) {
        if first {
            queues[priority.rawValue].prepend(element)
        } else {
            queues[priority.rawValue].append(element)
        }
    }

    /// Takes the next: the most urgent, but of eight contested turns one goes to the normal and one to the low.
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
