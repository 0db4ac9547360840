import HTTPTypes

/// What one attempt of a transfer has gathered; the next attempt begins with a new value.
struct Attempt {
    /// The direction in which a body's bytes move.
    enum Direction {
        case sending, receiving
    }

    /// Counted from 1, with 0 before the first attempt; the hops of a redirect share one number.
    var number: Int
    /// How often libcurl itself sent the body again on another connection.
    var replays = 0
    /// Whether the request was sent on a connection, at least in part.
    var isBegun = false
    /// The handle, while it is used for this attempt.
    var easy: EasyHandle?
    var lastActivity: Moment
    /// When to unpause libcurl, while the rate limit holds it.
    var throttledUntil: Moment?
    /// Since when no byte was granted, while the rate limit holds it: who waits longest goes first.
    var throttledSince: Moment?
    /// In which direction the session's limit holds it; nil while none does, or its own limit does for longer.
    var heldBySession: Direction?

    /// When it began, when the last byte of its body was handed over, and when the first one came back.
    let launched = Moment.fine
    var bodySent: Moment?
    var answered: Moment?

    /// The `Cookie` field that it was sent with, where that is the store's.
    var cookies: String?
    var parser = ResponseParser()
    /// Whether the response's head was told to who listens.
    var isAnnounced = false
    /// How long the heads of the responses are together so far.
    var headBytes = 0
    /// The most bytes that the response's body may have; nil for no limit, and before the head is whole.
    var bodyLimit: Int64?
    /// The part that the request asked to have continued.
    var asked: ResumePlan.Part?
    /// What the response means for the file; nil before its head is whole.
    var step: ResumePlan.Step?
    /// How many bytes of the file were there before the response's.
    var continuedAt: Int64 = 0
    /// The body, as far as it is kept in memory.
    var bytes: [UInt8] = []
    /// How many bytes of a redirect's body were thrown away.
    var discarded = 0
    /// Whether the response is a redirect that is followed, or cannot be.
    var isRedirect = false
    /// Whether it was decided what becomes of the body.
    var isJudged = false
    /// The file that the body was diverted to.
    var divertedTo: String?
    /// Whether the head was given to a reader, so that no other attempt may follow.
    var isStreamed = false
    /// How many bytes a reader was given.
    var streamed: Int64 = 0
    var sent: Int64 = 0
    var received: Int64 = 0
    /// What a callback found wrong; beats libcurl's own code.
    var failure: TransferError?

    init(number: Int, at now: Moment) {
        self.number = number
        lastActivity = now
    }

    /// The response, once its head is whole.
    var response: HTTPResponse? { parser.response }
}
