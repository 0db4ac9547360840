/// Why the server's feed must be read before more is decided: the tree may not show what the server has.
enum FeedDoubt: String, Sendable {
    /// A write may have been done although it has no answer. Its echo is read before anything else is sent, so that it is
    /// not taken for somebody's edit.
    case echoExpected
    /// This engine has written what no answer describes in full.
    case ownWrite
    /// The server refused a call, because of a state that the feed describes, or for a fault that shows there if it lasts.
    case refused
    /// The answer to a write does not fit the tree: another entry is there, or its folder was moved.
    case answerMismatch
    /// A content is not the one that the tree describes.
    case contentMismatch
    /// An entry in a moved folder has not been verified yet.
    case unverified
    /// The server's entry has changed since the transfer was planned.
    case outdatedPlan
    /// The page of a long poll was not the last one, or began elsewhere than the tree ends.
    case incompletePage
    /// Folders are missing in the tree, which only a full pass lists again.
    case brokenTree
}
