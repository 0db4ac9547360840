import ByteClubCore

/// A link that a member made to a path: whoever knows its secret may follow it until it expires.
///
/// It follows the path and not the content: when something else is stored there, that is what the link gives.
struct Link: Hashable, Sendable {
    /// What a link is good for.
    enum Purpose: Int, Sendable {
        /// Looking at a file or a folder without an account.
        case share
        /// Copying an entry by another member.
        case copy
    }

    /// What names the link: 32 hexadecimal digits.
    let secret: String
    /// Where it leads; letter case is lost.
    let path: RemotePath
    /// The first moment at which it no longer works.
    let expires: APIDate
}
