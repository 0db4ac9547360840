import ByteClubCore

/// What became of one photo of an upload.
struct UploadedPhoto: Encodable, Sendable {
    /// How a photo came to be on the server.
    enum Event: String, Encodable, Sendable {
        /// Sent and stored under its own name.
        case uploaded
        /// Sent and stored under a numbered name, since its own is another photo's.
        case renamed
        /// The same bytes were there already, under the name that is told.
        case present
    }

    var event: Event
    /// The local file.
    var file: String
    /// Where the photo is on the server.
    var path: RemotePath
    /// The photo's length there.
    var bytes: Int64
    /// The photo's version there.
    var rev: Revision?
    /// When that was told, as RFC 3339 in UTC.
    var time: String?
}

/// One photo that was not uploaded.
struct FailedPhoto: Encodable, Sendable {
    var event = "failed"
    var file: String
    var message: String
    var code: Int32
    /// As RFC 3339 in UTC.
    var time: String
}

/// The last line of an upload in JSON.
struct UploadSummary: Encodable, Sendable {
    var event = "summary"
    /// How many were sent.
    var uploaded: Int
    /// How many were there already.
    var present: Int
    /// How many were tried in vain.
    var failed: Int
    /// How many were not tried, since they would have failed for the reason of the last one.
    var skipped: Int
    /// As RFC 3339 in UTC.
    var time: String
}
