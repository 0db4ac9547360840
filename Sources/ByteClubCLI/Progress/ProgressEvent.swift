/// One line of `--progress=json`.
struct ProgressEvent: Encodable, Sendable {
    /// What is told.
    enum Kind: String, Encodable, Sendable {
        /// A transfer begins, or goes on with one that was cut off.
        case start
        /// A transfer is under way; once a second at most.
        case progress
        /// A transfer is over and all bytes are there.
        case finish
        /// A transfer is over and not all bytes are there.
        case failed
        /// The command is over; exactly one, the last.
        case summary
    }

    var event: Kind
    /// As RFC 3339 in UTC.
    var time: String
    /// The 16 digits of a background transfer's ID; nil of all else.
    var id: String?
    /// What is transferred; nil of a summary.
    var path: String?
    /// The bytes that the other side has; of a summary those of all transfers of this run.
    var bytes: Int64
    /// The bytes of the whole; nil while unknown.
    var total: Int64?
    /// How many transfers came to their end, of a summary.
    var files: Int?
    /// How many did not, of a summary.
    var failed: Int?
    /// How many need not be made, of a summary.
    var present: Int?
    /// How many were not tried, since they would have failed for the reason of the last one, of a summary.
    var skipped: Int?
    /// What these fields mean, of a summary; another number when that changes.
    var version: Int?
}
