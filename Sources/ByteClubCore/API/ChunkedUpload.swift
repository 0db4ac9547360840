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
        guard let uploadID else { throw JSONError(.missing("upload_id")) }
        guard let offset else { throw JSONError(.missing("offset")) }
        guard let expires else { throw JSONError(.missing("expires")) }
        self.init(uploadID: uploadID, offset: offset, expires: expires)
    }
}
