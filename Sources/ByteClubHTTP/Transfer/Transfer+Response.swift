import HTTPTypes

extension Transfer {
    /// Tells who listens that the head of the response is there, once for each attempt.
    ///
    /// The bytes of the body that were sent before are told first, and none of those received.
    func announceResponse(sent: Int64) {
        guard !attempt.isAnnounced, let response = wholeResponse else { return }
        attempt.isAnnounced = true
        if case .askAnew? = attempt.step { return }
        guard !task.inbox.events.isEmpty else { return }
        var progress = meter.progress
        progress.bytesSent = max(progress.bytesSent, sent)
        if progress.bytesSent > 0 { task.publish(progress) }
        task.tell(.responseReceived(response))
    }

    /// Whether the last response came with a body.
    var hasBody: Bool { attempt.received > 0 || !attempt.bytes.isEmpty || (goesToFile && file != nil) }

    /// The last response with as much of its body as is in memory.
    func held(_ response: HTTPResponse, at now: Moment) -> TaskResult {
        TaskResult(
            response: response, bytes: attempt.bytes, file: nil, progress: meter.finish(at: now),
            url: head.url.redacted)
    }
}
