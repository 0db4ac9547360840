public import HTTPTypes

/// What a finished task brought back.
///
/// Any status is a result, also 404 or 500.
public struct TaskResult: Sendable {
    /// The final response: after redirects and retries.
    public var response: HTTPResponse

    /// The body, when it was not written to a file.
    public var bytes: [UInt8]

    /// The path of the file with the body: for a download answered with 2xx only.
    public var file: String?

    /// What a download can be continued with whose request was answered with another status than 2xx, such as 403
    /// for an address whose signature ran out; nil otherwise.
    public var resumeData: ResumeData?

    /// The last counters.
    public var progress: TaskProgress

    /// The address that answered, without its query.
    public var url: String

    /// Where the time went, attempt by attempt.
    public var metrics = TaskMetrics()

    /// Where the response is from.
    public var source = Source.network

    /// Where a response is from.
    public enum Source: Sendable, Hashable {
        /// The server sent it.
        case network
        /// The session's ``ResponseCache`` had it; the server was not asked.
        case cache
        /// The cache had it, and the server said that it still holds (304).
        case validated
    }
}
