import HTTPTypes
import Synchronization

@testable import ByteClubHTTP

/// A delegate that writes down its callbacks.
final class CallbackLog: SessionDelegate {
    enum Callback: Equatable {
        case willFollow(String?)
        case willRetry
        case waiting
        case sent(Int64, total: Int64, expected: Int64)
        case response(Int)
        case data([UInt8])
        case resumed(Int64, expected: Int64)
        case wrote(Int64, total: Int64, expected: Int64)
        case downloaded(String)
        case metrics(attempts: Int)
        case completed(TransferError.Code?)
        case invalid(String)
    }

    let log = Log<(task: UInt64, callback: Callback)>()
    private let decide: @Sendable (SessionTask, Redirect) async -> RedirectDecision
    private let isBusy = Mutex(false)
    /// Whether two callbacks ran at once, or one on the session's thread.
    let isBroken = Mutex(false)

    init(_ decide: @escaping @Sendable (SessionTask, Redirect) async -> RedirectDecision = { _, _ in .follow }) {
        self.decide = decide
    }

    /// The callbacks of one task, or of the session for 0.
    func callbacks(of task: UInt64) -> [Callback] { log.entries.filter { $0.task == task }.map(\.callback) }

    /// Returns once the session's last callback came.
    func ended() async {
        await log.wait { $0.contains { if case .invalid = $0.callback { true } else { false } } }
    }

    private func note(_ callback: Callback, _ task: SessionTask? = nil) async {
        let wasBusy = isBusy.withLock { isBusy in
            defer { isBusy = true }
            return isBusy
        }
        if wasBusy || isOnSessionThread { isBroken.withLock { $0 = true } }
        await Task.yield()
        log.add((task?.id ?? 0, callback))
        isBusy.withLock { $0 = false }
    }

    func task(_ task: SessionTask, willFollow redirect: Redirect) async -> RedirectDecision {
        await note(.willFollow(redirect.request.path), task)
        return await decide(task, redirect)
    }

    func task(_ task: SessionTask, willRetryAfter delay: Duration, because reason: RetryReason) async {
        await note(.willRetry, task)
    }

    func taskIsWaitingForConnectivity(_ task: SessionTask) async { await note(.waiting, task) }

    func task(_ task: SessionTask, didSendBodyData count: Int64, total: Int64, expected: Int64) async {
        await note(.sent(count, total: total, expected: expected), task)
    }

    func task(_ task: SessionTask, didReceive response: HTTPResponse) async {
        await note(.response(response.status.code), task)
    }

    func task(_ task: SessionTask, didReceive data: [UInt8]) async { await note(.data(data), task) }

    func task(_ task: SessionTask, didResumeAt offset: Int64, expected: Int64) async {
        await note(.resumed(offset, expected: expected), task)
    }

    func task(_ task: SessionTask, didWriteData count: Int64, total: Int64, expected: Int64) async {
        await note(.wrote(count, total: total, expected: expected), task)
    }

    func task(_ task: SessionTask, didFinishDownloadingTo path: String) async { await note(.downloaded(path), task) }

    func task(_ task: SessionTask, didFinishCollecting metrics: TaskMetrics) async {
        await note(.metrics(attempts: metrics.attempts.count), task)
    }

    func task(_ task: SessionTask, didCompleteWith error: TransferError?) async {
        await note(.completed(error?.code), task)
    }

    func sessionDidBecomeInvalid(_ name: String) async { await note(.invalid(name)) }
}

/// Whether the callbacks of one task come in an order that ``SessionDelegate`` promises.
struct CallbackGrammar {
    private enum Place { case attempt, response, writing, body, measured(Bool), end }

    private var place = Place.attempt
    private var total: Int64 = 0

    /// Checks the next callback; false if it is not allowed here.
    mutating func accepts(_ callback: CallbackLog.Callback) -> Bool {
        switch (callback, place) {
        case (.willFollow, .attempt), (.waiting, .attempt): move(to: .attempt)
        case (.willRetry, .attempt), (.willRetry, .response), (.willRetry, .writing): move(to: .attempt)
        case (.sent(let count, let now, _), .attempt): counts(count, now)
        case (.response, .attempt): move(to: .response)
        case (.resumed(let offset, _), .response): move(to: .writing, from: offset)
        case (.wrote(let count, let now, _), .response), (.wrote(let count, let now, _), .writing):
            move(to: .writing, from: total) && counts(count, now)
        case (.data, .response), (.data, .body), (.downloaded, .response), (.downloaded, .writing): move(to: .body)
        case (.metrics, .attempt): move(to: .measured(false))
        case (.metrics, .response), (.metrics, .writing), (.metrics, .body): move(to: .measured(true))
        case (.completed(nil), .measured(true)), (.completed(_?), .measured): move(to: .end)
        default: false
        }
    }

    var isComplete: Bool { if case .end = place { true } else { false } }

    private mutating func move(to next: Place, from start: Int64 = 0) -> Bool {
        place = next
        total = start
        return true
    }

    /// A body is sent again if a kept connection was dead.
    private mutating func counts(_ count: Int64, _ now: Int64) -> Bool {
        defer { total = now }
        return count > 0 && (now == total + count || now == count)
    }
}
