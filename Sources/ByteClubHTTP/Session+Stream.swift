public import HTTPTypes

extension Session {
    /// Makes a request and returns its response as soon as the head is there, with the body to be read as it comes.
    ///
    /// Only the body of a 2xx response is streamed. Any other may yet be followed by a redirect or another attempt, so
    /// it is told with its whole body, which ``TaskOptions/maximumResponseBytes`` bounds. Once the head is returned
    /// nothing is tried again: a lost connection is thrown by the reader. ``TaskOptions/maximumBodyBytes`` bounds what
    /// is streamed.
    ///
    /// A streamed body is not decoded, and it comes over HTTP/1.1: what libcurl decodes, or receives by HTTP/2, it
    /// would gather without bound while the reader is slow.
    ///
    /// Cancelling the surrounding Swift task cancels the transfer at once.
    ///
    /// - Parameters:
    ///   - request: See ``dataTask(_:body:options:)``.
    ///   - body: What to send.
    ///   - options: What to do differently from the session.
    /// - Returns: The body to come, and the head of the response, whatever its status.
    /// - Throws: When there is no response.
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
