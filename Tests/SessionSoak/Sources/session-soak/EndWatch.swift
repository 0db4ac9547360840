import HTTPTypes
import Synchronization

@testable import ByteClubHTTP

/// A delegate that holds its callbacks to their order, one at a time, on its executor, and to one end for each task.
///
/// It answers challenges, and reads bodies in pieces, sometimes slowly.
final class EndWatch: SessionDelegate {
    private struct Story {
        var status: Int?
        /// The bytes that the last callback had counted, and those of the body that came in pieces.
        var written: Int64 = 0
        var pieces: [UInt8] = []
    }

    private struct State {
        /// Of the tasks that have not ended.
        var stories: [UInt64: Story] = [:]
        var ended: Set<UInt64> = []
        var isEnded = false
        var isBusy = false
    }

    static let alive = Atomic<Int>(0)

    let taskExecutor: (any TaskExecutor)?
    private let thread: DelegateThread?
    private let state = Mutex(State())
    private let ledger: Ledger
    private let porter: Porter
    private let isSlow: Bool

    init(_ ledger: Ledger, _ porter: Porter, on thread: DelegateThread?, isSlow: Bool) {
        self.ledger = ledger
        self.porter = porter
        self.thread = thread
        taskExecutor = thread
        self.isSlow = isSlow
        Self.alive.add(1, ordering: .relaxed)
    }

    deinit { Self.alive.subtract(1, ordering: .relaxed) }

    private func begin(_ task: SessionTask?, _ what: String) {
        var problems: [String] = []
        if let thread, !thread.isCurrent { problems.append("on another thread") }
        state.withLock { state in
            if state.isBusy { problems.append("during another callback") }
            if state.isEnded { problems.append("after its session's end") }
            state.isBusy = true
            guard let task else { return }
            if state.ended.contains(task.id) { problems.append("after its end") }
            if state.stories[task.id] == nil { state.stories[task.id] = Story() }
        }
        for problem in problems { ledger.violation("task \(task?.id ?? 0): \(what) \(problem)") }
    }

    private func leave() { state.withLock { $0.isBusy = false } }

    private func change(_ task: SessionTask, _ body: (inout Story) -> String?) {
        let problem = state.withLock { state in body(&state.stories[task.id, default: Story()]) }
        if let problem { ledger.violation("task \(task.id): \(problem)") }
    }

    // MARK: - Between attempts

    func task(_ task: SessionTask, willFollow redirect: Redirect) async -> RedirectDecision {
        begin(task, "a redirect")
        defer { leave() }
        if redirect.number % 7 == 6 { return .stop }
        var request = redirect.request
        request.headerFields[.accept] = "*/*"
        return redirect.number % 3 == 2 ? .send(request) : .follow
    }

    func task(_ task: SessionTask, didReceive challenge: AuthenticationChallenge) async -> ChallengeDecision {
        begin(task, "a challenge")
        defer { leave() }
        return await porter.decide(challenge)
    }

    func task(_ task: SessionTask, willRetryAfter delay: Duration, because reason: RetryReason) async {
        begin(task, "a retry")
        leave()
    }

    func taskIsWaitingForConnectivity(_ task: SessionTask) async {
        begin(task, "waiting for a network")
        leave()
    }

    // MARK: - Responses

    func task(_ task: SessionTask, didReceive response: HTTPResponse) async {
        begin(task, "a response")
        defer { leave() }
        change(task) { story in
            story.status = response.status.code
            story.pieces = []
            return nil
        }
    }

    func task(_ task: SessionTask, didReceive data: [UInt8]) async {
        begin(task, "bytes")
        defer { leave() }
        guard task.options.deliversPieces else { return }
        if isSlow, data.count % 3 == 0 { try? await Task.sleep(for: .milliseconds(2)) }
        if let thread, !thread.isCurrent { ledger.violation("task \(task.id): a callback left its thread") }
        change(task) { story in
            guard let status = story.status else { return "a piece before the response" }
            guard (200..<300).contains(status) else { return nil }
            story.pieces += data
            return (1...65_536).contains(data.count) ? nil : "a piece has \(data.count) bytes"
        }
    }

    func task(_ task: SessionTask, didResumeAt offset: Int64, expected: Int64) async {
        begin(task, "a continuation")
        defer { leave() }
        change(task) { story in
            story.written = offset
            return story.status == nil && offset > 0 ? "continued at \(offset) before a response" : nil
        }
    }

    func task(_ task: SessionTask, didWriteData count: Int64, total: Int64, expected: Int64) async {
        begin(task, "written bytes")
        defer { leave() }
        change(task) { story in
            // A new attempt counts from zero.
            let before = total - count
            defer { story.written = total }
            return count > 0 && (before == story.written || before == 0)
                ? nil : "\(count) bytes make \(total), after \(story.written)"
        }
    }

    func task(_ task: SessionTask, didFinishDownloadingTo path: String) async {
        begin(task, "a file")
        leave()
    }

    // MARK: - Ends

    func task(_ task: SessionTask, didCompleteWith error: TransferError?) async {
        begin(task, "an end")
        defer { leave() }
        let story = state.withLock { state in
            state.ended.insert(task.id)
            return state.stories.removeValue(forKey: task.id)
        }
        guard task.options.deliversPieces, error == nil, story?.status == 200,
            let path = task.request.path, let file = Int(path.drop { !$0.isNumber })
        else { return }
        ledger.outcome("pieces", "whole")
        if let problem = Contents.objection(to: story?.pieces ?? [], file: file) {
            ledger.violation("pieces of file \(file): \(problem)")
        }
    }

    func sessionDidBecomeInvalid(_ name: String) async {
        begin(nil, "the end of a session")
        defer { leave() }
        let open = state.withLock { state in
            state.isEnded = true
            return Array(state.stories.keys)
        }
        if !open.isEmpty { ledger.violation("a session ended before its tasks \(open)") }
    }
}
