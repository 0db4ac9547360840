import ByteClubCore

/// What clients and the log are told of failures that are not the client's.
enum ServerFault {
    /// The refusal; it tells nothing of the server's insides.
    static func refusal(for error: any Error) -> APIError {
        let error = error as? StorageError
        return switch error?.code {
        case .full: APIError(507, "the club's storage is full")
        case .overQuota: APIError(507, error?.message ?? "")
        case .noMember: APIError(401, error?.message ?? "")
        case .lastOwner: APIError(409, error?.message ?? "")
        case .notFound: APIError(404, error?.message ?? "")
        case .tooMany(let seconds): APIError(429, error?.message ?? "", retryAfter: seconds)
        case .closed: APIError(503, "the server is stopping; try again")
        default: APIError(500, "the server failed; see its log for this request's ID")
        }
    }

    /// One line for the log.
    static func line(for error: any Error) -> String { "\(error)".split(separator: "\n").joined(separator: " ") }
}

extension UploadError {
    /// The wire's refusal: an unknown id is 404 for a chunk, but 400 for a commit.
    func refusal(committing: Bool) -> APIError {
        switch self {
        case .unknown: APIError(committing ? 400 : 404, description)
        case .wrongOffset(_, let upload): APIError(400, description, upload: upload)
        case .alreadyCompleted: APIError(400, description)
        case .tooMany: APIError(429, description, retryAfter: 10)
        }
    }
}
