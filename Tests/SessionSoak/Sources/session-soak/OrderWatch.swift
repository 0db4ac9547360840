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
        let problem = stories.withLock { stories -> String? in
            var story = stories[task.id] ?? Story()
            defer { stories[task.id] = story }
            if story.isOver { return "\(event) after the end" }
            switch event {
            case .created: return stories[task.id] == nil ? nil : "made late"
            case .resumed, .suspended: return nil
            case .attemptStarted(let number, _):
                defer { (story.attempt, story.sent, story.received) = (number, 0, 0) }
                return number == story.attempt || number == story.attempt + 1 ? nil : "attempt \(number)"
            case .responseReceived, .downloadResumed, .redirected, .waitingForConnectivity, .retryScheduled:
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

/// A delegate that counts the ends of each task.
final class EndWatch: SessionDelegate {
    static let alive = Atomic<Int>(0)

    private let ends = Mutex<[UInt64: Int]>([:])
    private let isEnded = Mutex(false)
    private let ledger: Ledger

    init(_ ledger: Ledger) {
        self.ledger = ledger
        Self.alive.add(1, ordering: .relaxed)
    }

    deinit { Self.alive.subtract(1, ordering: .relaxed) }

    private func check(_ task: SessionTask, _ what: String) {
        if ends.withLock({ $0[task.id] }) != nil { ledger.violation("task \(task.id): \(what) after its end") }
        if isEnded.withLock({ $0 }) { ledger.violation("task \(task.id): \(what) after its session's end") }
    }

    func task(_ task: SessionTask, willFollow redirect: Redirect) async -> RedirectDecision {
        check(task, "a redirect")
        if redirect.number % 7 == 6 { return .stop }
        var request = redirect.request
        request.headerFields[.accept] = "*/*"
        return redirect.number % 3 == 2 ? .send(request) : .follow
    }

    func task(_ task: SessionTask, willRetryAfter delay: Duration, because reason: RetryReason) async {
        check(task, "a retry")
    }

    func task(_ task: SessionTask, didReceive response: HTTPResponse) async { check(task, "a response") }

    func task(_ task: SessionTask, didFinishDownloadingTo path: String) async { check(task, "a file") }

    func task(_ task: SessionTask, didCompleteWith error: TransferError?) async {
        check(task, "an end")
        ends.withLock { $0[task.id, default: 0] += 1 }
    }

    func sessionDidBecomeInvalid(_ name: String) async {
        if isEnded.withLock({ isEnded in
            defer { isEnded = true }
            return isEnded
        }) {
            ledger.violation("a session ended twice")
        }
    }
}
