import HTTPTypes

/// Calls a session's delegate for the session's events.
actor DelegateCaller {
    private let delegate: any SessionDelegate
    private let name: String
    /// The callback state of each task.
    private var scripts: [UInt64: CallbackScript] = [:]

    init(_ delegate: any SessionDelegate, name: String) {
        self.delegate = delegate
        self.name = name
    }

    func take(_ item: EventChannel.Item) async {
        switch item {
        case .event(let event, let task):
            if case .finished = event { await deliverPieces(of: task, isEnd: true) }
            var script = scripts.removeValue(forKey: task.id) ?? CallbackScript(isDownload: task.isDownload)
            let callbacks = script.callbacks(for: event)
            if case .finished = event {} else { scripts[task.id] = script }
            for callback in callbacks { await callback(delegate, task) }
        case .pieces(let task): await deliverPieces(of: task, isEnd: false)
        case .redirect(let redirect, let task, let waiter):
            // The task was cancelled in the meantime, and nothing follows a task's end.
            guard scripts[task.id] != nil else { return waiter.resume(.stop) }
            waiter.resume(await delegate.task(task, willFollow: redirect))
        case .challenge(let challenge, let task, let waiter):
            guard scripts[task.id] != nil else { return waiter.resume(nil) }
            waiter.resume(await delegate.task(task, didReceive: challenge))
        case .end:
            await delegate.sessionDidBecomeInvalid(name)
        }
    }

    /// Calls the delegate with the bytes of a body that have arrived.
    ///
    /// Before the end of the body only those that were there at first, so that a fast server does not hold the
    /// callbacks of other tasks back.
    private func deliverPieces(of task: SessionTask, isEnd: Bool) async {
        guard case .stream(let stream) = task.kind, stream.isForDelegate else { return }
        var left = isEnd ? Int.max : stream.count
        while let (bytes, releases, isLast) = stream.piece() {
            if releases { _ = task.inbox.post(.unpause(task)) }
            left -= bytes.count
            await delegate.task(task, didReceive: bytes)
            if isLast { return }
            if left <= 0 { return task.inbox.events.postPieces(of: task) }
        }
    }
}

/// Translates the events of one task into delegate callbacks.
///
/// A 2xx response is reported at once, since its body belongs to the task. Others may be redirected or retried, so they
/// are reported when the task ends with them.
struct CallbackScript {
    typealias Callback = @Sendable (any SessionDelegate, SessionTask) async -> Void

    let isDownload: Bool
    private var attempt = 0
    private var sent: Int64 = 0
    private var written: Int64 = 0
    private var hasResponse = false

    init(isDownload: Bool) { self.isDownload = isDownload }

    mutating func callbacks(for event: TaskEvent) -> [Callback] {
        switch event {
        case .created, .resumed, .suspended: return []
        case .attemptStarted(let number, _):
            beginAttempt()
            attempt = number
            return []
        case .redirected:
            beginAttempt()
            return []
        case .waitingForConnectivity:
            beginAttempt()
            return [{ await $0.taskIsWaitingForConnectivity($1) }]
        case .retryScheduled(let delay, let reason):
            beginAttempt()
            return [{ await $0.task($1, willRetryAfter: delay, because: reason) }]
        case .responseReceived(let response):
            guard response.status.kind == .successful else { return [] }
            hasResponse = true
            return [{ await $0.task($1, didReceive: response) }]
        case .downloadResumed(let offset, let expected):
            // The counters include the part that is kept, which this attempt did not write.
            written = offset
            return [{ await $0.task($1, didResumeAt: offset, expected: expected) }]
        case .progress(let progress): return moved(progress)
        case .finished(.failure(let error)):
            return (error.rejected.map(brought) ?? []) + ended(error.metrics, error)
        case .finished(.success(let result)): return brought(result) + ended(result.metrics, nil)
        }
    }

    private func ended(_ metrics: TaskMetrics, _ error: TransferError?) -> [Callback] {
        [{ await $0.task($1, didFinishCollecting: metrics) }, { await $0.task($1, didCompleteWith: error) }]
    }

    private func brought(_ result: TaskResult) -> [Callback] {
        var callbacks: [Callback] = []
        if !hasResponse { callbacks.append { await $0.task($1, didReceive: result.response) } }
        if !result.bytes.isEmpty { callbacks.append { await $0.task($1, didReceive: result.bytes) } }
        if let file = result.file { callbacks.append { await $0.task($1, didFinishDownloadingTo: file) } }
        return callbacks
    }

    private mutating func beginAttempt() {
        sent = 0
        written = 0
        hasResponse = false
    }

    private mutating func moved(_ progress: TaskProgress) -> [Callback] {
        if progress.attempt != attempt {
            // libcurl has repeated the body by itself, because a kept connection was dead.
            attempt = progress.attempt
            sent = 0
            written = 0
        }
        var callbacks: [Callback] = []
        if progress.bytesSent > sent {
            let (count, total) = (progress.bytesSent - sent, progress.bytesSent)
            sent = total
            callbacks.append {
                await $0.task($1, didSendBodyData: count, total: total, expected: progress.bytesExpectedToSend)
            }
        }
        if isDownload, hasResponse, progress.bytesReceived > written {
            let (count, total) = (progress.bytesReceived - written, progress.bytesReceived)
            written = total
            callbacks.append {
                await $0.task($1, didWriteData: count, total: total, expected: progress.bytesExpectedToReceive)
            }
        }
        return callbacks
    }
}
