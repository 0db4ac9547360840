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
}
