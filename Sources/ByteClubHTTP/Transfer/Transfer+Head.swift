import HTTPTypes

/// What is decided once, when the head of a response is whole.
extension Transfer {
    /// Where a body of the response seen so far is written to; nil for memory or a reader.
    var filePath: String? {
        if let path = attempt.divertedTo { return path }
        guard case .download(let path) = task.kind, let response = attempt.response,
            response.status.kind == .successful
        else { return nil }
        return path
    }

    /// Whether a body of the response seen so far goes to a file.
    var goesToFile: Bool { filePath != nil }

    /// The reader of the response's body, once its head was told.
    var reader: ResponseStream? {
        if attempt.isStreamed, case .stream(let stream) = task.kind { stream } else { nil }
    }

    /// Decides what becomes of the body; false if it must not come.
    ///
    /// Here, and nowhere else on the loop's thread, users' code is called.
    func judgeHead() -> Bool {
        guard !attempt.isJudged, let response = wholeResponse else { return true }
        attempt.isJudged = true
        if response.status.kind == .redirection {
            let redirect = head.redirect(
                for: response, hops: hops, following: task.options.redirects,
                publicFields: task.inbox.configuration.publicFields)
            if case .none = redirect {} else { attempt.isRedirect = true }
            if attempt.isRedirect { return true }
        }
        if case .askAnew? = attempt.step { return true }
        switch task.options.disposition?(response) ?? .allow {
        case .allow: break
        case .cancel:
            attempt.failure = error(.cancelled, "the response was turned down", phase: .receive)
            return false
        case .download(let path):
            if case .download = task.kind { break }
            attempt.divertedTo = path
            file = nil
        }
        guard response.status.kind == .successful else { return true }
        if let limit = task.options.maximumBodyBytes?(response) {
            attempt.bodyLimit = max(limit, 0)
            // The length in memory is another when it comes compressed.
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

    /// Notes that the body is too long; libcurl stops when it is told 0.
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
