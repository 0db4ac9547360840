public import HTTPTypes

extension Session {
    /// Sends a request and returns its response with the body in memory.
    ///
    /// Cancelling the surrounding Swift task cancels the transfer at once, in whatever it is doing.
    ///
    /// - Parameters:
    ///   - request: See ``dataTask(_:body:options:)``.
    ///   - body: The body to send.
    ///   - options: Settings that override the session's.
    /// - Returns: Body and response, whatever its status.
    /// - Throws: If there is no response.
    public func data(for request: HTTPRequest, body: Body = .none, options: TaskOptions = .init())
        async throws(TransferError) -> (bytes: [UInt8], response: HTTPResponse)
    {
        let task = SessionTask(.data, request, body: body, options: options, inbox: inbox)
        let result = try await finish(task, nil)
        return (result.bytes, result.response)
    }

    /// Sends a body and returns the response.
    ///
    /// Cancelling the surrounding Swift task cancels the transfer at once.
    ///
    /// - Parameters:
    ///   - request: See ``uploadTask(_:from:options:)``.
    ///   - body: The body to send.
    ///   - options: Settings that override the session's.
    ///   - progress: Called in order while bytes move, at most every 100 ms, and with the last counters before this
    ///     function returns.
    /// - Returns: Body and response, whatever its status.
    /// - Throws: If there is no response.
    public func upload(
        for request: HTTPRequest, from body: Body, options: TaskOptions = .init(),
        progress: (@Sendable (TaskProgress) -> Void)? = nil
    ) async throws(TransferError) -> (bytes: [UInt8], response: HTTPResponse) {
        let task = SessionTask(.upload, request, body: body, options: options, inbox: inbox)
        let result = try await finish(task, progress)
        return (result.bytes, result.response)
    }

    /// Sends a request and writes a 2xx response's body to a file.
    ///
    /// Cancelling the surrounding Swift task cancels the transfer at once; then there is no file.
    ///
    /// - Parameters:
    ///   - request: See ``downloadTask(_:to:options:)``.
    ///   - path: The file; it appears only when it is complete and has the announced length.
    ///   - options: Settings that override the session's.
    ///   - progress: As for ``upload(for:from:options:progress:)``.
    /// - Returns: The response, the file when the status was 2xx, and otherwise the body.
    /// - Throws: If there is no response, or the file cannot be written.
    public func download(
        for request: HTTPRequest, to path: String, options: TaskOptions = .init(),
        progress: (@Sendable (TaskProgress) -> Void)? = nil
    ) async throws(TransferError) -> (response: HTTPResponse, file: String?, bytes: [UInt8]) {
        let task = SessionTask(.download(path: path), request, body: .none, options: options, inbox: inbox)
        let result = try await finish(task, progress)
        return (result.response, result.file, result.bytes)
    }

    private func finish(_ task: SessionTask, _ progress: (@Sendable (TaskProgress) -> Void)?)
        async throws(TransferError) -> TaskResult
    {
        let outcome = await withTaskCancellationHandler {
            task.resume()
            guard let progress else { return await task.outcome }
            return await withTaskGroup(of: Void.self) { group in
                // The reader ends with the task, not with the Swift task: it must see the last counters.
                group.addTask { for await update in task.progressUpdates { progress(update) } }
                return await task.outcome
            }
        } onCancel: {
            task.cancel()
        }
        return try outcome.get()
    }
}

extension Session {
    /// Sends a request and returns its response as soon as the head was received; the body is read as it arrives.
    ///
    /// Only the body of a 2xx response is streamed. Other responses may lead to a redirect or another attempt, so they
    /// are returned with their whole body, limited by ``TaskOptions/maximumResponseBytes``. Nothing is retried once the
    /// head was returned: the reader throws if the connection is lost. ``TaskOptions/maximumBodyBytes`` limits the
    /// streamed body.
    ///
    /// A streamed body is not decoded and uses HTTP/1.1: libcurl would buffer decoded or HTTP/2 data without limit
    /// while the reader is slow.
    ///
    /// Cancelling the surrounding Swift task cancels the transfer at once.
    ///
    /// - Parameters:
    ///   - request: See ``dataTask(_:body:options:)``.
    ///   - body: The body to send.
    ///   - options: Settings that override the session's.
    /// - Returns: The body, and the head of the response, whatever its status.
    /// - Throws: If there is no response.
    public func bytes(for request: HTTPRequest, body: Body = .none, options: TaskOptions = .init())
        async throws(TransferError) -> (bytes: ResponseBytes, response: HTTPResponse)
    {
        let stream = ResponseStream()
        let task = SessionTask(.stream(stream), request, body: body, options: options, inbox: inbox)
        let bytes = ResponseBytes(source: ResponseBytes.Source(task, stream))
        let head = await withTaskCancellationHandler {
            task.resume()
            return await stream.head()
        } onCancel: {
            task.cancel()
        }
        return (bytes, try head.get())
    }
}

extension Session {
    /// Gets a URL; ``data(for:body:options:)`` has more options.
    ///
    /// Cancelling the surrounding Swift task cancels the transfer at once.
    ///
    /// - Parameter address: As for ``HTTPTypes/HTTPRequest/init(_:url:fields:)``.
    /// - Returns: Body and response, whatever its status.
    /// - Throws: If the address is invalid or there is no response.
    public func data(from address: String) async throws(TransferError) -> (bytes: [UInt8], response: HTTPResponse) {
        try await data(for: HTTPRequest(url: address))
    }

    /// Downloads a URL to a file; ``download(for:to:options:progress:)`` has more options.
    ///
    /// Cancelling the surrounding Swift task cancels the transfer at once.
    ///
    /// - Parameters:
    ///   - address: As for ``HTTPTypes/HTTPRequest/init(_:url:fields:)``.
    ///   - path: The file; it appears only when it is whole, and only for a 2xx response.
    /// - Returns: The response, the file when the status was 2xx, and otherwise the body.
    /// - Throws: If the address is invalid, there is no response, or the file cannot be written.
    public func download(from address: String, to path: String)
        async throws(TransferError) -> (response: HTTPResponse, file: String?, bytes: [UInt8])
    {
        try await download(for: HTTPRequest(url: address), to: path)
    }
}
