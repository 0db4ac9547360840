import TestSupport
import Testing

@testable import ByteClubServer

@Suite struct TokenBucketTests {
    @Test("over any time a bucket allows no more than its burst and its rate", arguments: 0..<20)
    func bound(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let rate = TokenBucket.Rate(
            perSecond: .random(in: 0.5...50, using: &random), burst: Double(Int.random(in: 1...20, using: &random)))
        let start = ContinuousClock.now
        var now = start
        var bucket = TokenBucket(rate, at: now)
        var allowed = 0
        for _ in 0..<2000 {
            now += .milliseconds(Int.random(in: 0...40, using: &random))
            if let wait = bucket.take(rate, at: now) {
                #expect(wait > .zero && wait <= .seconds(1 / rate.perSecond) + .microseconds(1), "seed \(seed)")
                var later = bucket
                #expect(later.take(rate, at: now + wait + .microseconds(1)) == nil, "seed \(seed)")
            } else {
                allowed += 1
            }
            let elapsed = start.duration(to: now) / .seconds(1)
            #expect(Double(allowed) <= rate.burst + elapsed * rate.perSecond + 1e-6, "seed \(seed)")
        }
    }

    @Test("a limiter keeps keys apart, forgets full buckets, and without a rate allows all")
    func limiter() {
        let limiter = RateLimiter<Int>(TokenBucket.Rate(perSecond: 1, burst: 2))
        let now = ContinuousClock.now
        #expect(limiter.take(1, at: now) == nil && limiter.take(1, at: now) == nil)
        #expect(limiter.take(1, at: now) == .seconds(1))
        #expect(limiter.take(2, at: now) == nil)
        #expect(limiter.refusals == 1)
        for key in 0..<5000 { _ = limiter.take(key, at: now + .seconds(key)) }
        #expect(limiter.keyCount < 1100)
        let open = RateLimiter<Int>(nil)
        #expect((0..<1000).allSatisfy { _ in open.take(1, at: now) == nil })
    }
}
