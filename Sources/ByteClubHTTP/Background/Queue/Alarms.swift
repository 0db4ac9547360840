/// Tasks with times, the earliest first: a binary heap.
struct Alarms: Sendable {
    struct Alarm {
        var time: Int64
        /// Orders equal times, the smallest first.
        var place: UInt64
        var id: BackgroundTask.ID

        fileprivate func isBefore(_ other: Alarm) -> Bool { (time, place) < (other.time, other.place) }
    }

    private var heap: [Alarm] = []

    /// The earliest time.
    var next: Int64? { heap.first?.time }

    mutating func add(_ id: BackgroundTask.ID, place: UInt64, at time: Int64) {
        var index = heap.count
        heap.append(Alarm(time: time, place: place, id: id))
        while index > 0, heap[index].isBefore(heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Removes and returns the earliest alarm if its time has come.
    mutating func popFirst(until now: Int64) -> Alarm? {
        guard let first = heap.first, first.time <= now, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var index = 0
        while true {
            let children = (2 * index + 1..<min(2 * index + 3, max(heap.count, 2 * index + 1)))
            guard let least = children.min(by: { heap[$0].isBefore(heap[$1]) }), heap[least].isBefore(heap[index])
            else { return first }
            heap.swapAt(index, least)
            index = least
        }
    }
}
