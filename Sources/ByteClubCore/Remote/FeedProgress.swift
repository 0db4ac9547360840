/// Whether a feed that is read page after page comes to its end, or only pretends that it will.
///
/// An honest pass lists each entry once, and once more when it changes meanwhile; each of its pages makes progress.
public struct FeedProgress: Sendable {
    /// The most entries that are listed in one pass, four times those of the largest tested clubs.
    public static let mostEntries = 4_000_000
    /// How often in one pass entries may be listed again, beyond once each.
    public static let mostRepeats = 10_000
    /// How many pages in a row may tell nothing though more follows.
    public static let mostEmptyPages = 100
    /// How often a pass may restart.
    public static let mostResets = 10

    private var entries = 0
    private var repeats = 0
    private var emptyPages = 0
    private var resets = 0

    /// Prepares for a pass.
    public init() {}

    /// Counts a page.
    ///
    /// - Parameters:
    ///   - count: How many entries it tells.
    ///   - isReset: Whether it begins anew.
    ///   - cursor: Where it says that the next one begins.
    ///   - previous: Where it begins itself.
    ///   - hasMore: Whether it says that there is a next one.
    /// - Throws: `protocolViolation` when the pass would not end.
    public mutating func take(
        entries count: Int, isReset: Bool, cursor: String, after previous: String?, hasMore: Bool
    ) throws(RemoteError) {
        entries += count
        emptyPages = count == 0 && hasMore ? emptyPages + 1 : 0
        if isReset { resets += 1 }
        if entries > Self.mostEntries { throw Self.endless("it lists more than \(Self.mostEntries) entries") }
        if hasMore, let previous, cursor.utf8.elementsEqual(previous.utf8) {
            throw Self.endless("a page leads to itself")
        }
        if emptyPages > Self.mostEmptyPages { throw Self.endless("page after page is empty") }
        if resets > Self.mostResets { throw Self.endless("it keeps starting over") }
    }

    /// Counts an entry that this pass has listed before.
    ///
    /// - Throws: `protocolViolation` when most of the pass is such entries.
    public mutating func takeRepeat() throws(RemoteError) {
        repeats += 1
        if repeats > Self.mostRepeats, 2 * repeats > entries {
            throw Self.endless("it keeps repeating the same entries")
        }
    }

    private static func endless(_ reason: String) -> RemoteError {
        RemoteError(.protocolViolation, "the server's list of changes does not end: \(reason)")
    }
}
