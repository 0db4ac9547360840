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
