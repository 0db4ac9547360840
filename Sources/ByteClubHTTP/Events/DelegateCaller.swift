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
            var script = scripts.removeValue(forKey: task.id) ?? CallbackScript(isDownload: task.isDownload)
            let callbacks = script.callbacks(for: event)
            if case .finished = event {} else { scripts[task.id] = script }
            for callback in callbacks { await call(callback, task) }
        case .redirect(let redirect, let task, let waiter):
            // The task was cancelled in the meantime, and nothing follows a task's end.
            guard scripts[task.id] != nil else { return waiter.resume(.stop) }
            waiter.resume(await delegate.task(task, willFollow: redirect))
        case .end:
            await delegate.sessionDidBecomeInvalid(name)
        }
    }

    private func call(_ callback: CallbackScript.Callback, _ task: SessionTask) async {
        switch callback {
        case .willRetry(let delay, let reason):
            await delegate.task(task, willRetryAfter: delay, because: reason)
        case .sent(let count, let total, let expected):
            await delegate.task(task, didSendBodyData: count, total: total, expected: expected)
        case .response(let response):
            await delegate.task(task, didReceive: response)
        case .data(let bytes):
            await delegate.task(task, didReceive: bytes)
        case .wrote(let count, let total, let expected):
            await delegate.task(task, didWriteData: count, total: total, expected: expected)
        case .downloaded(let path):
            await delegate.task(task, didFinishDownloadingTo: path)
        case .metrics(let metrics):
            await delegate.task(task, didFinishCollecting: metrics)
        case .completed(let error):
            await delegate.task(task, didCompleteWith: error)
        }
    }
}

/// Translates the events of one task into delegate callbacks.
///
/// A 2xx response is reported at once, since its body belongs to the task. Others may be redirected or retried, so they
/// are reported when the task ends with them.
struct CallbackScript {
    enum Callback {
        case willRetry(after: Duration, RetryReason)
        case sent(Int64, total: Int64, expected: Int64)
        case response(HTTPResponse)
        case data([UInt8])
        case wrote(Int64, total: Int64, expected: Int64)
        case downloaded(String)
        case metrics(TaskMetrics)
        case completed(TransferError?)
    }

    let isDownload: Bool
    private var attempt = 0
    private var sent: Int64 = 0
    private var written: Int64 = 0
    private var hasResponse = false

    init(isDownload: Bool) { self.isDownload = isDownload }

    mutating func callbacks(for event: TaskEvent) -> [Callback] {
        switch event {
        case .created, .resumed, .suspended: return []
        case .attemptStarted, .redirected:
            beginAttempt()
            return []
        case .retryScheduled(let delay, let reason):
            beginAttempt()
            return [.willRetry(after: delay, reason)]
        case .responseReceived(let response):
            guard response.status.kind == .successful else { return [] }
            hasResponse = true
            return [.response(response)]
        case .progress(let progress): return moved(progress)
        case .finished(.failure(let error)):
            return (error.rejected.map(brought) ?? []) + [.metrics(error.metrics), .completed(error)]
        case .finished(.success(let result)):
            return brought(result) + [.metrics(result.metrics), .completed(nil)]
        }
    }

    private func brought(_ result: TaskResult) -> [Callback] {
        var callbacks: [Callback] = hasResponse ? [] : [.response(result.response)]
        if !result.bytes.isEmpty { callbacks.append(.data(result.bytes)) }
        if let file = result.file { callbacks.append(.downloaded(file)) }
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
            let count = progress.bytesSent - sent
            sent = progress.bytesSent
            callbacks.append(.sent(count, total: sent, expected: progress.bytesExpectedToSend))
        }
        if isDownload, hasResponse, progress.bytesReceived > written {
            let count = progress.bytesReceived - written
            written = progress.bytesReceived
            callbacks.append(.wrote(count, total: written, expected: progress.bytesExpectedToReceive))
        }
        return callbacks
    }
}
