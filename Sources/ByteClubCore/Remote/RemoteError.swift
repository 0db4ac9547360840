/// Why a call of a remote failed.
public struct RemoteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is; compare with the static values.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case badRequest, badCursor, unauthorized, forbidden, notFound, conflict, tooMany, undecodable, tooLarge
            case rateLimited, serverFault, overQuota, unreachable, cancelled, protocolViolation, localFile, staleCursor
        }
        private let value: Value

        /// A parameter, a path or a name that the server refuses.
        public static let badRequest = Code(value: .badRequest)
        /// A cursor that this server did not give.
        public static let badCursor = Code(value: .badCursor)
        /// A cursor from which the journal cannot be followed any more: start over without one.
        public static let staleCursor = Code(value: .staleCursor)
        /// The token is missing, unknown or disabled: the member must log in again.
        public static let unauthorized = Code(value: .unauthorized)
        /// An operation that cannot be done there: the destination exists, a folder into itself.
        public static let forbidden = Code(value: .forbidden)
        /// No such path or version.
        public static let notFound = Code(value: .notFound)
        /// A condition did not hold; nothing was stored.
        public static let conflict = Code(value: .conflict)
        /// More entries than one call may touch.
        public static let tooMany = Code(value: .tooMany)
        /// A file that is no image has no thumbnail.
        public static let undecodable = Code(value: .undecodable)
        /// A body over the limit.
        public static let tooLarge = Code(value: .tooLarge)
        /// Too many calls; see ``RemoteError/retryAfter``.
        public static let rateLimited = Code(value: .rateLimited)
        /// The server failed; the same call may succeed later.
        public static let serverFault = Code(value: .serverFault)
        /// The club's allowance or the server's disk is full.
        public static let overQuota = Code(value: .overQuota)
        /// The server could not be reached or went away.
        public static let unreachable = Code(value: .unreachable)
        /// The caller cancelled.
        public static let cancelled = Code(value: .cancelled)
        /// The answer violates the protocol.
        public static let protocolViolation = Code(value: .protocolViolation)
        /// A file on this machine could not be read or written, or changed meanwhile.
        public static let localFile = Code(value: .localFile)

        /// The code's name.
        public var description: String { value.rawValue }
    }

    /// What kind of failure it is.
    public var code: Code
    /// One line for people.
    public var message: String
    /// Seconds after which the server wants the call to be tried again.
    public var retryAfter: Double?
    /// What the server calls the request, for its log.
    public var requestID: String?

    /// The address of the club that answered; nil for one that has none, or where there was no answer.
    public var server: String?

    /// Whether the member's role is too low, so that only an owner can help.
    public var isOfRole = false

    /// Whether a proxy refused, so that the server's state is unknown.
    public var isOfProxy = false

    /// Creates an error.
    public init(_ code: Code, _ message: String, retryAfter: Double? = nil, requestID: String? = nil) {
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
        self.requestID = requestID
    }

    /// Whether the same call may succeed later without intervention.
    public var isRetryable: Bool {
        [.rateLimited, .serverFault, .unreachable, .overQuota].contains(code)
    }

    /// The message.
    public var description: String { message }
}

/// Detects a feed whose pages never end.
///
/// An honest pass lists each entry once, and once more when it changes meanwhile; each of its pages makes progress.
public struct FeedProgress: Sendable {
    /// The most entries that are listed in one pass, four times as many as in the largest tested clubs.
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
    ///   - count: The number of its entries.
    ///   - isReset: Whether it starts over.
    ///   - cursor: Its cursor for the next page.
    ///   - previous: The cursor that led to it.
    ///   - hasMore: Whether it announces another page.
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
