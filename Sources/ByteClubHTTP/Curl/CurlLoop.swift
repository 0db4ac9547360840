import CLibcurl
import Glibc
import HTTPTypes

/// The event loop of a session: one multi handle, driven by one dedicated thread.
///
/// The loop is created and runs on its thread. It is not Sendable, so none of its state can leave the thread: other
/// threads reach it only through the ``Inbox``.
@safe
final class CurlLoop {
    let inbox: Inbox
    let configuration: SessionConfiguration
    let multi: UnsafeMutableRawPointer
    let share: UnsafeMutableRawPointer?
    let admission: Admission<Transfer>
    /// The transfers of all tasks that were started and have no result, by task ID.
    var live: [UInt64: Transfer] = [:]
    /// The transfers in the multi handle, by task ID.
    var active: [UInt64: Transfer] = [:]
    var budget: RetryBudget
    let throttle: SessionThrottle
    private let defaults: Transfer.Defaults
    /// Shared by all transfers that were not admitted yet.
    private let idleWork = Transfer.Work(rate: nil, at: .distantFuture)
    /// The origins that responded to a request of this session.
    var answered: Set<Origin> = []
    /// The credentials that answered challenges.
    var keyring = Keyring()
    /// The questions to user code about challenges, each with the transfers that wait for its answer.
    var inquiries: [ProtectionSpace: Inquiry] = [:]
    /// The number of the last of them.
    var lastInquiry: UInt64 = 0
    /// What the session knows about the trust in servers; nil without an evaluator.
    let trust: TrustBook?
    var random = SystemRandomNumberGenerator()
    /// Bytes that came before this time have been read.
    var readAt = Moment.now
    var nextActiveCheck = Moment.distantFuture
    var nextWaitingCheck = Moment.distantFuture
    /// When the next progress report is due for a transfer that moves no bytes.
    var nextReport = Moment.distantFuture
    /// The number of transfers that wait for a network, and the notices of its changes while there are any.
    var offlineCount = 0
    var network: NetworkWatch?
    /// Watches the conditions of the network from the first task on that they matter to, and the last ones.
    var conditionsWatch: ConditionsWatch?
    var conditions: NetworkConditions?
    private var idleHandles: [EasyHandle] = []
    private var isEnding = false
    private var commands: [Command] = []

    private static let mostIdleHandles = 64
    private static let longestSleep = 60_000

    init?(_ inbox: Inbox) {
        guard let multi = unsafe byteclub_curl_multi_init() else { return nil }
        configuration = inbox.configuration
        self.inbox = inbox
        defaults = Transfer.Defaults(inbox)
        unsafe self.multi = unsafe multi
        unsafe share = unsafe byteclub_curl_share_tls_sessions()
        admission = Admission(perOrigin: configuration.maximumTasksPerHost, total: configuration.maximumTasks)
        trust = configuration.trustEvaluator == nil ? nil : TrustBook()
        budget = RetryBudget(configuration.retryPolicy)
        throttle = SessionThrottle(rate: configuration.rateLimit, at: .now)
        // The limit includes busy connections; above it libcurl closes every idle one.
        let limit = min(max(configuration.maximumTasks, 1), 1 << 16)
        _ = unsafe byteclub_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, limit + 8)
    }

    deinit {
        idleHandles = []
        unsafe byteclub_curl_multi_cleanup(multi)
        if let share = unsafe share { unsafe byteclub_curl_share_cleanup(share) }
    }

    /// Runs until the session is invalidated and its last task has a result.
    func run() {
        while true {
            let start = Moment.now
            drain(at: start)
            checkTimers(at: start)
            var isBusy = admit(at: start)
            var running: Int32 = 0
            _ = unsafe byteclub_curl_multi_perform(multi, &running)
            // Callbacks have read the clock since, and later steps must not use an earlier time.
            readAt = start
            let end = Moment.now
            if collect(at: end) { isBusy = true }
            if isEnding, live.isEmpty {
                flushStores()
                if inbox.end() { return }
            }
            if !isBusy { sleep(at: end) }
        }
    }

    private func sleep(at now: Moment) {
        let next = nextCheck
        let time = next == .distantFuture ? Self.longestSleep : now.duration(to: next).wholeMilliseconds
        inbox.sleep {
            let ready = unsafe byteclub_curl_multi_poll(
                multi, inbox.descriptor, network?.descriptor ?? -1, Int32(min(time, Self.longestSleep)))
            if ready & 2 != 0 { networkChanged() }
            return ready & 1 != 0
        }
    }

    /// Executes the posted commands.
    private func drain(at now: Moment) {
        inbox.take(into: &commands)
        for command in commands {
            switch command {
            case .start(let task): start(task, at: now)
            case .cancel(let task): if let transfer = live[task.id] { cancel(transfer, at: now) }
            case .suspend(let task): if let transfer = live[task.id] { suspend(transfer, at: now) }
            case .resume(let task): if let transfer = live[task.id] { resume(transfer, at: now) }
            case .unpause(let task): if let transfer = live[task.id] { release(transfer, at: now) }
            case .prioritize(let task): if let transfer = live[task.id] { prioritize(transfer) }
            case .limit(let rate): limit(rate, at: now)
            case .tasks(let waiter): waiter.resume(live.values.map(\.task))
            case .answer(let task, let answer):
                if let transfer = live[task.id] { take(answer, for: transfer, at: now) }
            case .decide(let decision): take(decision, at: now)
            case .conditions(let present): take(present, at: now)
            case .judge(let answer): take(answer, at: now)
            case .sendMore(let task): if let transfer = live[task.id] { sendMore(transfer, at: now) }
            case .invalidate(let cancelling):
                isEnding = true
                if cancelling { for transfer in live.values { cancel(transfer, at: now) } }
            }
        }
        commands.removeAll(keepingCapacity: true)
    }

    private func cancel(_ transfer: Transfer, at now: Moment) {
        finish(transfer, .failure(transfer.error(.cancelled, "cancelled", phase: transfer.phase)), at: now)
    }

    private func start(_ task: SessionTask, at now: Moment) {
        do {
            let head = try task.head()
            let transfer = Transfer(
                task, head: head, defaults: defaults, sessionThrottle: throttle, idle: idleWork, at: now)
            live[task.id] = transfer
            nextWaitingCheck = min(nextWaitingCheck, transfer.resourceDeadline)
            budget.earn()
            begin(transfer, at: now)
        } catch {
            task.complete(.failure(error))
        }
    }

    /// Moves admitted transfers into the multi handle; true if there were any.
    private func admit(at now: Moment) -> Bool {
        var hasAny = false
        while let turn = admission.next() {
            let transfer = turn.element
            guard case .waiting = transfer.stage, turn.ticket == transfer.ticket else {
                admission.release(turn.origin)
                continue
            }
            if transfer.isSuspended {
                transfer.enter(.parked)
                admission.release(turn.origin)
                continue
            }
            hasAny = true
            if transfer.rules.isRestrictive, !mayUseNetwork(transfer, at: now) { continue }
            launch(transfer, at: now)
        }
        return hasAny
    }

    private func launch(_ transfer: Transfer, at now: Moment) {
        transfer.enter(.active)
        active[transfer.task.id] = transfer
        do {
            try transfer.begin(at: now)
        } catch {
            let problem = transfer.error(error.code, error.message, phase: .file, errno: error.errno)
            return finish(transfer, .failure(problem), at: now)
        }
        guard let easy = unsafe idleHandles.popLast() ?? EasyHandle(share: share) else {
            return finish(
                transfer, .failure(transfer.error(.other, "libcurl is out of memory", phase: .queue)), at: now)
        }
        transfer.attempt.easy = easy
        if !keyring.isEmpty || transfer.challenges != nil { addAnswers(to: transfer) }
        if let trust { prepareTrust(of: transfer, trust) }
        easy.prepare(transfer, configuration)
        guard easy.failure == CURLE_OK else {
            let code = easy.failure
            var problem =
                transfer.attempt.failure
                ?? transfer.error(.other, "the request cannot be set up: \(easy.describe(code))", phase: .queue)
            problem.curlCode = Int32(code.rawValue)
            transfer.attempt.easy = nil
            return finish(transfer, .failure(problem), at: now)
        }
        transfer.task.tell(.attemptStarted(number: transfer.attempt.number, url: transfer.head.url.redacted))
        nextActiveCheck = min(nextActiveCheck, deadline(of: transfer))
        // Balanced when the handle leaves the multi handle: until then libcurl's pointers keep the transfer alive.
        _ = unsafe Unmanaged.passRetained(transfer)
        let code = unsafe byteclub_curl_multi_add(multi, easy.pointer)
        if code != CURLM_OK {
            unsafe Unmanaged.passUnretained(transfer).release()
            transfer.attempt.easy = nil
            finish(transfer, .failure(transfer.error(.other, "libcurl refuses the request", phase: .queue)), at: now)
        }
    }

    /// Removes a transfer from the multi handle, if it is there, and releases its slot.
    func retire(_ transfer: Transfer, keepingHandle: Bool) {
        guard transfer.isActive else { return }
        transfer.enter(.retired)
        active[transfer.task.id] = nil
        admission.release(transfer.head.url.origin)
        transfer.noteAttempt()
        guard let easy = transfer.attempt.easy else { return }
        transfer.attempt.easy = nil
        _ = unsafe byteclub_curl_multi_remove(multi, easy.pointer)
        unsafe Unmanaged.passUnretained(transfer).release()
        if keepingHandle, idleHandles.count < Self.mostIdleHandles {
            easy.reset()
            idleHandles.append(easy)
        }
    }
}
