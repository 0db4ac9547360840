import ByteClubCore

/// Why a chunk or the commit of an upload in pieces was refused; nothing was stored.
enum UploadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No such upload of this member, or it has expired.
    case unknown
    /// The chunk starts elsewhere than the upload ends.
    case wrongOffset(got: Int64, upload: ChunkedUpload)
    /// A write has stored this upload already.
    case alreadyCompleted
    /// Bytes of as many uploads as a member may have unfinished are arriving at once.
    case tooMany

    /// One line for people, in the words that clients search for.
    var description: String {
        switch self {
        case .unknown: "Upload id not found"
        case .wrongOffset(let got, let upload):
            "the chunk starts at the wrong place: got [\(got)] expected [\(upload.offset)]"
        case .alreadyCompleted: "the upload is already completed"
        case .tooMany: "you have too many unfinished uploads; finish some of them first"
        }
    }
}
