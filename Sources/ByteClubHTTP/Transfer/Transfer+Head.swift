import HTTPTypes

/// Decisions made once, when the head of a response is complete.
extension Transfer {
    /// The file for the body of the current response; nil for memory or a reader.
    var filePath: String? {
        if let path = attempt.divertedTo { return path }
        guard case .download(let path) = task.kind, attempt.status?.kind == .successful else { return nil }
        return path
    }

    /// Whether the body of the current response is written to a file.
    var goesToFile: Bool { filePath != nil }

    /// The reader of the response's body, once it has the head.
    var reader: ResponseStream? {
        if attempt.isStreamed, case .stream(let stream) = task.kind { stream } else { nil }
    }

    /// Decides how to handle the body; false to abort the transfer.
    ///
    /// This is the only place where user code runs on the loop's thread.
    func judgeHead() -> Bool {
        let attempt = attempt
        guard !attempt.isJudged, let kind = attempt.status?.kind, let response = wholeResponse else { return true }
        attempt.isJudged = true
        if kind == .redirection {
            if case .none = redirect(after: response) {} else { attempt.isRedirect = true }
            if attempt.isRedirect { return true }
        }
        if case .askAnew? = attempt.step { return true }
        switch task.options.disposition?(response) ?? .allow {
        case .allow: break
        case .cancel:
            attempt.failure = error(.cancelled, "the response was rejected", phase: .receive)
            return false
        case .download(let path):
            if case .download = task.kind { break }
            attempt.divertedTo = path
            file = nil
        }
        guard kind == .successful else { return true }
        if let limit = task.options.maximumBodyBytes?(response) {
            attempt.bodyLimit = max(limit, 0)
            // The length in memory differs if the body is compressed.
            let isPlain = goesToFile && !response.headerFields.contains(.contentEncoding)
            let length = response.headerFields[.contentLength].flatMap { Int64($0) }
            if isPlain, let length, length > limit { return refuseBody(over: limit) != 0 }
        }
        if !goesToFile, case .stream(let stream) = task.kind {
            if let problem = rejection(of: response, hasBody: announcesBody(response), { held(response, at: .now) }) {
                attempt.failure = problem
                return false
            }
            attempt.isStreamed = true
            stream.begin(response)
        }
        return true
    }

    /// The redirect that the response of the current attempt asks for.
    func redirect(after response: HTTPResponse) -> RequestHead.Redirect {
        guard attempt.status?.kind == .redirection else { return .none }
        return head.redirect(
            for: response, hops: hops, following: task.options.redirects,
            publicFields: task.inbox.configuration.publicFields)
    }

    /// Records that the body is too long; libcurl aborts when the callback returns 0.
    func refuseBody(over limit: Int64) -> Int {
        attempt.failure = error(.bodyTooLarge, "the response is larger than \(limit) bytes", phase: .receive)
        return 0
    }

    /// Whether the body belongs to a redirect that will be followed for certain.
    var willBeDiscarded: Bool { attempt.isRedirect && !keepsRedirectBodies }

    private func announcesBody(_ response: HTTPResponse) -> Bool {
        head.method != .head && ![204, 205].contains(response.status.code)
            && response.headerFields[.contentLength] != "0"
    }
}

extension Transfer {
    /// Reports the head of the response to the listeners, once per attempt.
    ///
    /// Body bytes sent before it are reported first; received bytes are reported after it.
    func announceResponse(sent: Int64) {
        let attempt = attempt
        guard !attempt.isAnnounced, attempt.status != nil else { return }
        attempt.isAnnounced = true
        if case .askAnew? = attempt.step { return }
        guard !task.inbox.events.isEmpty, let response = wholeResponse else { return }
        var progress = meter.progress
        progress.bytesSent = max(progress.bytesSent, sent)
        if progress.bytesSent > 0 { task.publish(progress) }
        task.tell(.responseReceived(response))
        if let (offset, expected) = takeContinuation() {
            task.tell(.downloadResumed(at: offset, expected: expected))
        }
    }

    /// The session's policy with the task's overrides.
    var policy: RequestPolicy {
        let common = task.inbox.configuration.policy
        return task.options.hasPolicy ? common.overridden(by: task.options.policy) : common
    }

    /// The error by which the task's ``ResponseValidation`` rejects a response; nil if it accepts it.
    func rejection(of response: HTTPResponse, hasBody: Bool, _ received: () -> TaskResult) -> TransferError? {
        guard let objection = policy.validation?.objection(to: response, hasBody: hasBody) else { return nil }
        var problem = error(.unacceptableResponse, objection, phase: .receive)
        problem.rejected = received()
        return problem
    }

    /// Whether the last response had a body.
    var hasBody: Bool { attempt.received > 0 || !attempt.bytes.isEmpty || (goesToFile && file != nil) }

    /// The last response with as much of its body as is in memory.
    func held(_ response: HTTPResponse, at now: Moment) -> TaskResult {
        TaskResult(
            response: response, bytes: attempt.bytes, file: nil, progress: meter.finish(at: now),
            url: head.url.redacted)
    }
}
