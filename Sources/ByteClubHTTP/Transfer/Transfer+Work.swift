extension Transfer {
    /// What a transfer needs from its first attempt on; made then, so that those that wait are small: they share one that
    /// nobody changes.
    final class Work {
        var attempt: Attempt
        var meter = ProgressMeter()
        var sendThrottle: Throttle<Moment>?
        var receiveThrottle: Throttle<Moment>?
        var representation: Representation?
        var grownTo: Int64 = 0
        var attemptsBefore = 0
        var stored: ResponseCache.Found?
        var askedAt: Int64 = 0

        init(rate: Int?, at now: Moment) {
            attempt = Attempt(number: 0, at: now)
            sendThrottle = rate.map { Throttle(rate: $0, at: now) }
            receiveThrottle = sendThrottle
        }
    }

    var attempt: Attempt {
        _read { yield work.attempt }
        _modify { yield &underWay.attempt }
    }

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

    /// What the file of a download is a part of.
    var representation: Representation? {
        get { work.representation }
        set { if newValue != nil || work.representation != nil { underWay.representation = newValue } }
    }

    /// How long the file was after the last attempt that made it worthwhile longer.
    var grownTo: Int64 {
        get { work.grownTo }
        set { underWay.grownTo = newValue }
    }

    /// How many attempts there were before that one; only the later ones count as tried in vain.
    var attemptsBefore: Int {
        get { work.attemptsBefore }
        set { underWay.attemptsBefore = newValue }
    }

    /// How often the request was sent since something came of it, that time included.
    var attemptsInVain: Int { attempt.number - attemptsBefore }

    /// What the session's cache has for the present hop, while the server is asked about it.
    var stored: ResponseCache.Found? {
        get { work.stored }
        set { if newValue != nil || work.stored != nil { underWay.stored = newValue } }
    }

    /// When the server was asked for the present hop, on the cache's clock: seconds since 1970.
    var askedAt: Int64 {
        get { work.askedAt }
        set { if newValue != work.askedAt { underWay.askedAt = newValue } }
    }
}
