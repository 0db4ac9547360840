import HTTPTypes

/// The state of one attempt of a transfer; the next attempt starts with a new object.
///
/// It is a class because callbacks change it many times for each request: each change of a value in an object is
/// checked as an exclusive access to the whole value.
final class Attempt {
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
    /// When to unpause the transfer that a rate limit has paused.
    var throttledUntil: Moment?
    /// Since when a rate limit has paused it; the transfer that waited longest resumes first.
    var throttledSince: Moment?
    /// The direction in which the session's limit pauses it; nil if none does, or if its own limit requires a longer
    /// wait.
    var heldBySession: Direction?

    /// The times of its start, of the last body byte sent, and of the first byte received.
    let launched = Moment.fine
    var bodySent: Moment?
    var answered: Moment?

    /// The `Cookie` field sent, if it is from the store.
    var cookies: String?
    var parser = ResponseParser()
    /// Whether the response's head was reported to the listeners.
    var isAnnounced = false
    /// The total length of the response heads so far, in bytes.
    var headBytes = 0
    /// The maximum length of the response's body; nil for no limit, and before the head is complete.
    var bodyLimit: Int64?
    /// The part that the request resumes.
    var asked: ResumePlan.Part?
    /// The consequence of the response for the file; nil before its head is complete.
    var step: ResumePlan.Step?
    /// The length of the file before this response.
    var continuedAt: Int64 = 0
    /// The body, as far as it is kept in memory.
    var bytes: [UInt8] = []
    /// The number of discarded bytes of a redirect's body.
    var discarded = 0
    /// Whether the response is a redirect that is followed, or cannot be.
    var isRedirect = false
    /// Whether the handling of the body was decided.
    var isJudged = false
    /// The file that the body was diverted to.
    var divertedTo: String?
    /// Whether a reader has the head, so that no other attempt may follow.
    var isStreamed = false
    /// The number of bytes passed to the reader.
    var streamed: Int64 = 0
    var sent: Int64 = 0
    var received: Int64 = 0
    /// The schemes by which a proxy requires authentication, in libcurl's bits; nil if none does.
    var proxyOffers: Int?
    /// The error that a callback found; it overrides libcurl's code.
    var failure: TransferError?

    init(number: Int, at now: Moment) {
        self.number = number
        lastActivity = now
    }

    /// The response, once its head is whole.
    var response: HTTPResponse? { parser.response }

    /// The response's status, once its head is whole; cheaper than ``HTTPTypes/HTTPResponse/status``.
    var status: HTTPResponse.Status? { parser.isComplete ? parser.status : nil }
}

extension Transfer {
    /// State that a transfer needs from its first attempt on.
    ///
    /// Waiting transfers share one instance that is never changed, to stay small.
    final class Work {
        var attempt: Attempt
        var meter = ProgressMeter()
        var sendThrottle: Throttle<Moment>?
        var receiveThrottle: Throttle<Moment>?
        var representation: Representation?
        /// The length of the file after the last attempt that made enough progress.
        var grownTo: Int64 = 0
        /// Whether the server begins a file anew although its rest was requested, and the listeners were not told yet.
        var beginsAnew = false
        /// The number of attempts before that one; only later ones count against the retry limit.
        var attemptsBefore = 0
        var stored: ResponseCache.Found?
        /// When to try again, while the transfer waits for a network.
        var connectivity: ConnectivityWait?
        /// When the current hop's request was sent, by the cache's clock: seconds since 1970.
        var askedAt: Int64 = 0
        var challenges: ChallengeRecord?
        /// What it does about the trust in servers; nil without an evaluator, and before the first attempt.
        var trust: TrustRecord?

        init(rate: Int?, at now: Moment) {
            attempt = Attempt(number: 0, at: now)
            sendThrottle = rate.map { Throttle(rate: $0, at: now) }
            receiveThrottle = sendThrottle
        }
    }

    /// The current attempt, or the last one; it may only be changed after ``begin(at:)``.
    var attempt: Attempt { work.attempt }

    var meter: ProgressMeter {
        _read { yield work.meter }
        _modify { yield &underWay.meter }
    }

    var sendThrottle: Throttle<Moment>? {
        _read { yield work.sendThrottle }
        _modify { yield &underWay.sendThrottle }
    }

    var receiveThrottle: Throttle<Moment>? {
        _read { yield work.receiveThrottle }
        _modify { yield &underWay.receiveThrottle }
    }

    /// The representation that a download's file is part of.
    var representation: Representation? {
        get { work.representation }
        set { if newValue != nil || work.representation != nil { underWay.representation = newValue } }
    }

    /// The number of attempts since the last one with progress, including that one.
    var attemptsInVain: Int { attempt.number - work.attemptsBefore }

    /// Whether the last attempt failed for lack of a network.
    var isOffline: Bool { work.connectivity != nil }

    /// The cached response for the current hop, while it is being revalidated.
    var stored: ResponseCache.Found? {
        get { work.stored }
        set { if newValue != nil || work.stored != nil { underWay.stored = newValue } }
    }
}
