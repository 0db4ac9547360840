/// What a client is to be sent: answers in order, and of each task's events the latest alone, however slowly it reads; that
/// a task is gone comes after its end.
struct Outbox {
    private enum Entry {
        case frame([UInt8])
        case task(BackgroundTask.ID)
    }

    private var order: FIFO<Entry> = .init()
    /// At most two of a task: its end, and that it is gone.
    private var events: [BackgroundTask.ID: [DaemonEvent]] = [:]
    /// How many bytes of answers wait.
    private(set) var bytes = 0

    var isEmpty: Bool { order.isEmpty }

    /// Adds an answer, or an event that is about no task, behind what is there.
    ///
    /// - Returns: False when it is too long to be sent.
    mutating func add(_ frame: DaemonFrame) -> Bool {
        let content = frame.onWire
        guard content.count - 4 <= DaemonFrame.limit else { return false }
        bytes += content.count
        order.append(.frame(content))
        return true
    }

    /// Tells how a task stands; takes the place of what was to be told of it.
    mutating func tell(_ event: DaemonEvent, of id: BackgroundTask.ID) {
        let before = events[id]
        if case .gone = event, let end = before?.first, case .status(let status) = end, status.isFinished {
            events[id] = [end, event]
        } else {
            events[id] = [event]
        }
        if before == nil { order.append(.task(id)) }
    }

    /// Takes the bytes of the next frame, or of a task's next two.
    mutating func next() -> [UInt8]? {
        guard let entry = order.popFirst() else { return nil }
        switch entry {
        case .frame(let content):
            bytes -= content.count
            return content
        case .task(let id): return events.removeValue(forKey: id)?.flatMap { DaemonFrame.event($0).onWire }
        }
    }
}

extension DaemonFrame {
    /// The frame's bytes with their length before them.
    var onWire: [UInt8] {
        let content = encoded
        let count = UInt32(clamping: content.count)
        return (0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) } + content
    }
}
