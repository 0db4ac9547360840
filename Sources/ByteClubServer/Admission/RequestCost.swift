import ByteClubCore

/// What a request may cost before it is served, by what it asks for.
struct RequestCost: Hashable, Sendable {
    /// How the database is read.
    enum Reading: Hashable, Sendable {
        /// A few rows.
        case brief
        /// Many rows, which the answer holds.
        case listing
        /// Every name in a folder.
        case search
    }

    /// What is held of the body.
    enum Body: Hashable, Sendable {
        /// Nothing but the piece that is on its way to the disk.
        case streamed
        /// The same, of a form with a file in it; a signature of OAuth 1 covers the file's name, too.
        case multipart
        /// A form of at most ``formLimit`` bytes.
        case form
        /// All of it, up to so many bytes.
        case whole(Int)
    }

    /// The longest form in bytes: three times the longest path, and some.
    static let formLimit = 64 << 10

    /// The refusal of a body that is longer than what is held of one.
    static func tooLong(_ limit: Int) -> APIError { APIError(413, "the body is longer than \(limit) bytes") }

    /// What is held of the body.
    var body = Body.form
    /// How the database is read.
    var reading = Reading.brief
}
