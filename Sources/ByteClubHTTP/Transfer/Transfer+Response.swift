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

    /// The session's policy with what the task does differently.
    var policy: RequestPolicy {
        let common = task.inbox.configuration.policy
        return task.options.hasPolicy ? common.overridden(by: task.options.policy) : common
    }

    /// The error that a response is by the task's ``ResponseValidation``, with what was received; nil if it is none.
    func rejection(of response: HTTPResponse, hasBody: Bool, _ received: () -> TaskResult) -> TransferError? {
        guard let objection = policy.validation?.objection(to: response, hasBody: hasBody) else { return nil }
        var problem = error(.unacceptableResponse, objection, phase: .receive)
        problem.rejected = received()
        return problem
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
