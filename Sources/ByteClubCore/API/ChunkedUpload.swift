/// What `/chunked_upload` answers: how far an upload in pieces has come.
public struct ChunkedUpload: Hashable, Sendable, Codable {
    /// What names the upload in the next call.
    public var uploadID: String
    /// The number of bytes that the server holds.
    public var offset: Int64
    /// When the server forgets the upload.
    public var expires: APIDate

    private enum CodingKeys: String, CodingKey {
        case uploadID = "upload_id", offset, expires
    }

    /// Creates an answer.
    public init(uploadID: String, offset: Int64, expires: APIDate) {
        self.uploadID = uploadID
        self.offset = offset
        self.expires = expires
    }
}
