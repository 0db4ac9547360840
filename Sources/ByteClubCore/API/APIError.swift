/// A refusal as the wire tells it: a status, a line, and perhaps the parameter at fault.
public struct APIError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The HTTP status, 400 to 599.
    public var status: Int
    /// One line for people; clients search it for `not found`, `got [N] expected [M]` and `already completed`.
    public var message: String
    /// The parameter at fault; the body is then `{"error": {"<parameter>": "text"}}`.
    public var parameter: String?
    /// Seconds after which the call may be tried again.
    public var retryAfter: Int?
    /// The upload's true state, sent along when a chunk came at the wrong offset.
    public var upload: ChunkedUpload?

    /// Creates a refusal.
    public init(
        _ status: Int, _ message: String, parameter: String? = nil, retryAfter: Int? = nil,
        upload: ChunkedUpload? = nil
    ) {
        self.status = status
        self.message = message
        self.parameter = parameter
        self.retryAfter = retryAfter
        self.upload = upload
    }

    /// 404 for a path that never was or is gone.
    public static func notFound(_ path: RemotePath) -> APIError { APIError(404, "Path '\(path)' not found") }

    /// The message.
    public var description: String { message }
}
