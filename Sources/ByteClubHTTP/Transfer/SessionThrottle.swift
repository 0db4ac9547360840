/// The rate limit that all transfers of a session share.
///
/// Belongs to the loop's thread.
final class SessionThrottle {
    /// Bytes per second in each direction; nil for no limit.
    private(set) var rate: Int?
    var send: Throttle<Moment>?
    var receive: Throttle<Moment>?

    init(rate: Int?, at now: Moment) { set(rate, at: now) }

    /// Begins another rate with little credit.
    func set(_ rate: Int?, at now: Moment) {
        self.rate = rate
        send = rate.map { Throttle(rate: $0, at: now) }
        receive = rate.map { Throttle(rate: $0, at: now) }
    }

    /// How many of the transfers that wait may be let go now; nil when there is no limit.
    func turns(at now: Moment) -> Int? {
        guard rate != nil else { return nil }
        return max(send?.turns(at: now) ?? 1, receive?.turns(at: now) ?? 1)
    }

    /// How long the credit for one turn takes to earn.
    var turn: Duration { .milliseconds(21) }
}
