import Synchronization
import TestSupport

/// The arrival times of request bodies and their pieces.
final class Arrivals: Sendable {
    struct Log: Sendable {
        /// How many bodies began while another was under way.
        var overlaps = 0
        /// The seconds from the end of a body to the next request.
        var gaps: [Double] = []
        /// When how many bytes came.
        var pieces: [Piece] = []
        fileprivate var underWay = 0
        fileprivate var lastEnd: Double?
    }

    struct Piece: Sendable {
        /// Seconds on one clock.
        var time: Double
        var bytes: Int
    }

    private let start = ContinuousClock.now
    private let log = Mutex(Log())

    /// A request is there, with the first bytes of its body.
    func begin(_ bytes: Int) {
        let now = Stopwatch.seconds(since: start)
        log.withLock { log in
            if log.underWay > 0 { log.overlaps += 1 }
            log.underWay += 1
            if let end = log.lastEnd { log.gaps.append(now - end) }
            log.lastEnd = nil
            log.pieces.append(Piece(time: now, bytes: bytes))
        }
    }

    /// More of a body came.
    func add(_ bytes: Int) {
        let piece = Piece(time: Stopwatch.seconds(since: start), bytes: bytes)
        log.withLock { $0.pieces.append(piece) }
    }

    /// A body is whole; its request is about to be answered.
    func end() {
        let now = Stopwatch.seconds(since: start)
        log.withLock { log in
            log.underWay -= 1
            log.lastEnd = now
        }
    }

    /// The arrivals since the last call.
    func take() -> Log {
        log.withLock { log in
            defer { log = Log() }
            return log
        }
    }
}

extension [Arrivals.Piece] {
    /// The least and the most bytes in any window of this many seconds, relative to the rate.
    func extremes(in window: Double, rate: Int) -> (least: Double, most: Double) {
        guard let last else { return (.nan, .nan) }
        let whole = Double(rate) * window
        var (least, most) = (Double.infinity, 0.0)
        var (end, sum) = (0, 0)
        for first in self {
            while end < count, self[end].time < first.time + window {
                sum += self[end].bytes
                end += 1
            }
            // Only whole windows count. The most begin with a piece; the least right behind it.
            if first.time + window > last.time { break }
            most = Swift.max(most, Double(sum) / whole)
            sum -= first.bytes
            least = Swift.min(least, Double(sum) / whole)
        }
        return (least, most)
    }

    /// How far any stretch went ahead of the rate, in seconds of it.
    func burst(rate: Int) -> Double {
        var (ahead, most) = (0.0, 0.0)
        var before = first?.time ?? 0
        for piece in self {
            ahead = Swift.max(ahead - (piece.time - before), 0) + Double(piece.bytes) / Double(rate)
            most = Swift.max(most, ahead)
            before = piece.time
        }
        return most
    }
}
