import Glibc

/// Pauses between looks for what may come at once or only later: each is twice as long as the one before.
///
/// Blocks its thread.
struct GrowingPause {
    /// The next one, in microseconds.
    private var next: UInt32
    private let longest: UInt32
    private let end: Moment

    /// - Parameters:
    ///   - shortest: The first one, in microseconds; less than a second.
    ///   - longest: None is longer, in microseconds; less than a second.
    ///   - end: When looking is over.
    init(from shortest: UInt32, to longest: UInt32, until end: Moment) {
        next = shortest
        self.longest = longest
        self.end = end
    }

    /// Lets one pass; false at once when looking is over.
    mutating func pass() -> Bool {
        guard Moment.fine < end else { return false }
        usleep(next)
        next = min(next * 2, longest)
        return true
    }
}
