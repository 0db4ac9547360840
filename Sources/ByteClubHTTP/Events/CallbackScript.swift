import HTTPTypes

/// Which callbacks of a delegate the events of one task become.
///
/// A response is told at once where its body is the task's: a 2xx. Others may yet be redirects or be asked for again, so
/// they are told when the task ends with them.
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
            // libcurl sends the body anew by itself where a kept connection turned out dead.
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
