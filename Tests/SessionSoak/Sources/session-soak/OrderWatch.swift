import HTTPTypes
import Synchronization

@testable import ByteClubHTTP

/// Holds what a session tells of its tasks to the order in which things happen, and to one end for each.
final class OrderWatch: EventMonitor {
    private struct Story {
        var isOver = false
        var attempt = 0
        var sent: Int64 = 0
        var received: Int64 = 0
        /// Of the current request.
        var hasResponse = false
        var isContinued = false
        var isWaiting = false
    }

    static let alive = Atomic<Int>(0)

    private let stories = Mutex<[UInt64: Story]>([:])
    private let ledger: Ledger

    init(_ ledger: Ledger) {
        self.ledger = ledger
        Self.alive.add(1, ordering: .relaxed)
    }

    deinit { Self.alive.subtract(1, ordering: .relaxed) }

    func receive(_ event: TaskEvent, of task: SessionTask) async {
        // It may wait before its first attempt, and again after each.
        let isRestricted = NetworkRules(task.options, task.inbox.configuration).isRestrictive
        let problem = stories.withLock { stories -> String? in
            var story = stories[task.id] ?? Story()
            defer { stories[task.id] = story }
            if story.isOver { return "\(event) after the end" }
            switch event {
            case .created: return stories[task.id] == nil ? nil : "made late"
            case .resumed, .suspended: return nil
            case .attemptStarted(let number, _):
                defer {
                    (story.attempt, story.sent, story.received) = (number, 0, 0)
                    (story.hasResponse, story.isContinued) = (false, false)
                    if isRestricted { story.isWaiting = false }
                }
                return number == story.attempt || number == story.attempt + 1 ? nil : "attempt \(number)"
            case .responseReceived:
                (story.hasResponse, story.isWaiting) = (true, false)
                return story.attempt > 0 ? nil : "before an attempt"
            case .downloadResumed(let offset, let expected):
                defer { story.isContinued = true }
                ledger.outcome("continued", offset > 0 ? "kept a part" : "anew")
                return story.hasResponse && !story.isContinued && offset >= 0 && (expected == -1 || expected >= offset)
                    ? nil : "continued at \(offset) of \(expected): \(story)"
            case .waitingForConnectivity:
                defer { story.isWaiting = true }
                let isFirst = story.attempt == 0
                ledger.outcome("waiting", isFirst ? "before the first attempt" : "reported")
                return (!isFirst || isRestricted) && !story.isWaiting ? nil : "waits a second time: \(story)"
            case .redirected, .retryScheduled:
                story.isWaiting = false
                return story.attempt > 0 ? nil : "before an attempt"
            case .progress(let progress):
                if progress.attempt > story.attempt { (story.sent, story.received) = (0, 0) }
                defer { (story.sent, story.received) = (progress.bytesSent, progress.bytesReceived) }
                return progress.bytesSent >= story.sent && progress.bytesReceived >= story.received
                    ? nil : "counters shrink: \(story) then \(progress)"
            case .finished:
                story.isOver = true
                return nil
            }
        }
        if let problem { ledger.violation("task \(task.id): \(problem)") }
    }

    func sessionEnded(_ name: String) async {
        let open = stories.withLock { $0.filter { $0.value.attempt > 0 && !$0.value.isOver }.map(\.key) }
        if !open.isEmpty { ledger.violation("a session ended before its tasks \(open)") }
    }
}
