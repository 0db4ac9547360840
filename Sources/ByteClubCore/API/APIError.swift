/// A refusal on the wire: a status, a line, and the parameter at fault, if there is one.
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

    /// 404 for a path without a live entry.
    public static func notFound(_ path: RemotePath) -> APIError { APIError(404, "Path '\(path)' not found") }

    /// The message.
    public var description: String { message }
}

/// What `/chunked_upload` answers: how far an upload in pieces has come.
public struct ChunkedUpload: Hashable, Sendable {
    /// What names the upload in the next call.
    public var uploadID: String
    /// The number of bytes that the server holds.
    public var offset: Int64
    /// When the server forgets the upload.
    public var expires: APIDate

    /// Creates an answer.
    public init(uploadID: String, offset: Int64, expires: APIDate) {
        self.uploadID = uploadID
        self.offset = offset
        self.expires = expires
    }
}

extension ChunkedUpload: JSONReadable {
    /// Reads the wire's object.
    public init(json: inout JSONReader) throws(JSONError) {
        var uploadID: String?
        var offset: Int64?
        var expires: APIDate?
        try json.object { (json, name) throws(JSONError) in
            switch name {
            case "upload_id": uploadID = try json.value()
            case "offset": offset = try json.value()
            case "expires": expires = try json.value()
            default: try json.skip()
            }
        }
        try self.init(
            uploadID: uploadID.required("upload_id"), offset: offset.required("offset"),
            expires: expires.required("expires"))
    }
}
