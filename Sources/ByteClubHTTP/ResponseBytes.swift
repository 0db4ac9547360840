/// The body of a response as it comes: chunks of up to 64 KiB, read as fast as the reader likes.
///
/// At most 1 MiB waits to be read. When that much does, the transfer is paused on the wire, with its timeouts, until
/// the reader has come down to 256 KiB. Dropping the sequence and its readers cancels the transfer at once, and so does
/// cancelling the Swift task that reads. An error after the head is thrown by the reader, once what came before it was
/// read; a cancel at once. Several readers share the chunks: each goes to one of them.
public struct ResponseBytes: AsyncSequence, Sendable {
    /// A chunk, never empty.
    public typealias Element = [UInt8]
    /// Why the body is not whole.
    public typealias Failure = TransferError

    /// Cancels the transfer when nobody can read it any more.
    final class Source: Sendable {
        let task: SessionTask
        let stream: ResponseStream

        init(_ task: SessionTask, _ stream: ResponseStream) {
            self.task = task
            self.stream = stream
        }

        deinit { task.cancel() }
    }

    let source: Source

    /// The task behind it: for its progress, to suspend it, and, after the end, for its metrics.
    public var task: SessionTask { source.task }

    /// Reads the chunks.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let source: Source

        /// The next chunk, or nil after the last.
        ///
        /// - Parameter actor: Where the caller runs.
        /// - Returns: At least one byte.
        /// - Throws: When the body ended before it was whole; `cancelled` when the surrounding Swift task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(TransferError)
            -> [UInt8]?
        {
            let (task, stream) = (source.task, source.stream)
            let chunk = await withTaskCancellationHandler {
                await stream.next { _ = task.inbox.post(.unpause(task)) }
            } onCancel: {
                task.cancel()
            }
            return try chunk.get()
        }

        /// The next chunk, or nil after the last.
        ///
        /// - Returns: At least one byte.
        /// - Throws: As ``next(isolation:)``.
        public mutating func next() async throws(TransferError) -> [UInt8]? { try await next(isolation: nil) }
    }

    /// Begins to read.
    ///
    /// - Returns: A reader.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }
}
