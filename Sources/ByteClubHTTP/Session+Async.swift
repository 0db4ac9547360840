public import HTTPTypes

extension Session {
    /// Makes a request and returns its response with the body in memory.
    ///
    /// Cancelling the surrounding Swift task cancels the transfer at once, in whatever it is doing.
    ///
    /// - Parameters:
    ///   - request: See ``dataTask(_:body:options:)``.
    ///   - body: What to send.
    ///   - options: What to do differently from the session.
    /// - Returns: Body and response, whatever its status.
    /// - Throws: When there is no response.
    public func data(for request: HTTPRequest, body: Body = .none, options: TaskOptions = .init())
        async throws(TransferError) -> (bytes: [UInt8], response: HTTPResponse)
    {
        let result = try await finish(dataTask(request, body: body, options: options), nil)
        return (result.bytes, result.response)
    }

    /// Sends a body and returns the response.
    ///
    /// Cancelling the surrounding Swift task cancels the transfer at once.
    ///
    /// - Parameters:
    ///   - request: See ``uploadTask(_:from:options:)``.
    ///   - body: What to send.
    ///   - options: What to do differently from the session.
    ///   - progress: Called in order while bytes move, at most every 100 ms, and with the last counters before this
    ///     function returns.
    /// - Returns: Body and response, whatever its status.
    /// - Throws: When there is no response.
    public func upload(
        for request: HTTPRequest, from body: Body, options: TaskOptions = .init(),
        progress: (@Sendable (TaskProgress) -> Void)? = nil
    ) async throws(TransferError) -> (bytes: [UInt8], response: HTTPResponse) {
        let result = try await finish(uploadTask(request, from: body, options: options), progress)
        return (result.bytes, result.response)
    }

    /// Makes a request and writes a 2xx response's body to a file.
    ///
    /// Cancelling the surrounding Swift task cancels the transfer at once; then there is no file.
    ///
    /// - Parameters:
    ///   - request: See ``downloadTask(_:to:options:)``.
    ///   - path: The file; it appears only when it is whole and has the length the server announced.
    ///   - options: What to do differently from the session.
    ///   - progress: As for ``upload(for:from:options:progress:)``.
    /// - Returns: The response, the file when the status was 2xx, and otherwise the body.
    /// - Throws: When there is no response, or the file cannot be written.
    public func download(
        for request: HTTPRequest, to path: String, options: TaskOptions = .init(),
        progress: (@Sendable (TaskProgress) -> Void)? = nil
    ) async throws(TransferError) -> (response: HTTPResponse, file: String?, bytes: [UInt8]) {
        let result = try await finish(downloadTask(request, to: path, options: options), progress)
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
