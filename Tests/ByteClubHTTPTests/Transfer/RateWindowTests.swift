import Testing

@testable import ByteClubHTTP

/// How even a limited stream is, with the waits of the loop and no clock.
struct RateWindowTests {
    /// When how many bytes went.
    private struct Trace {
        var moments: [(time: Int64, bytes: Int)] = []

        /// The most and the least bytes within any window of this length between `begin` and `end`.
        func extremes(window: Int64, begin: Int64, end: Int64) -> (least: Int, most: Int) {
            var sums = [0]
            for moment in moments { sums.append((sums.last ?? 0) + moment.bytes) }
            let times = moments.map(\.time)
            func sum(before time: Int64) -> Int { sums[times.partition { $0 >= time }] }
            var (least, most) = (Int.max, 0)
            for time in times where time >= begin && time + window <= end {
                // The most begin with bytes that go; the least right behind them.
                most = max(most, sum(before: time + window) - sum(before: time))
                least = min(least, sum(before: time + 1 + window) - sum(before: time + 1))
            }
            return (least, most)
        }
    }

    private static let second: Int64 = 1_000_000_000

    /// Several transfers under one limit, woken up to 5 ms late and on a clock of 4 ms, after ten idle seconds.
    private func run(rate: Int, transfers: Int, receiving: Bool, seed: UInt64) -> Trace {
        var random = SplitMix(state: seed)
        var throttle = Throttle(rate: rate, at: Moment(nanoseconds: 0))
        var trace = Trace()
        let chunk = min(max(rate / 64, 1024), 16 << 10)
        var due = (0..<transfers).map { _ in 10 * Self.second }
        while let next = due.min(), next < 22 * Self.second, let index = due.firstIndex(of: next) {
            let now = next / 4_000_000 * 4_000_000
            let grant =
                receiving
                ? throttle.takeWhole(chunk, at: Moment(nanoseconds: now))
                : throttle.take(256 << 10, at: Moment(nanoseconds: now))
            switch grant {
            case .move(let bytes): trace.moments.append((next, bytes))
            case .wait(let time):
                due[index] = next + time.wholeNanoseconds + Int64.random(in: 0...5_000_000, using: &random)
            }
        }
        return trace
    }

    @Test(
        "any two seconds have twice the rate within 3 %, and no 50 ms more than a quarter of a second's worth",
        arguments: [64 << 10, 1_000_003, 10 << 20, 100 << 20], [1, 6])
    func windows(rate: Int, transfers: Int) {
        for receiving in [false, true] {
            let seed = UInt64.random(in: 0...UInt64.max)
            let trace = run(rate: rate, transfers: transfers, receiving: receiving, seed: seed)
            let (least, most) = trace.extremes(window: 2 * Self.second, begin: 10 * Self.second, end: 21 * Self.second)
            #expect(Double(most) <= 2.06 * Double(rate), "seed \(seed), receiving \(receiving)")
            #expect(Double(least) >= 1.94 * Double(rate), "seed \(seed), receiving \(receiving)")
            let burst = trace.extremes(window: 50_000_000, begin: 0, end: 21 * Self.second).most
            #expect(burst <= rate / 4, "seed \(seed): \(burst) bytes at once")
        }
    }
}

extension [Int64] {
    /// The first index whose element fits, in a sorted array.
    fileprivate func partition(_ fits: (Int64) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if fits(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
