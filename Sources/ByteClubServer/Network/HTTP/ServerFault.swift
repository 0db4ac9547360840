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
        case .closed: APIError(503, "the server is stopping; try again")
        default: APIError(500, "the server failed; see its log for this request's ID")
        }
    }

    /// One line for the log.
    static func line(for error: any Error) -> String { "\(error)".split(separator: "\n").joined(separator: " ") }
}
