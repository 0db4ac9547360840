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

    /// The last counters.
    public var progress: TaskProgress

    /// The address that answered, without its query.
    public var url: String
}
