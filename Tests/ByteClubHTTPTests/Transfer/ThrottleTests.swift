import Testing

@testable import ByteClubHTTP

extension Throttle {
    /// Grants bytes and counts them.
    mutating func take(_ wanted: Int, at now: Instant) -> Grant {
        let grant = offer(wanted, at: now)
        if case .move(let count) = grant { spend(count) }
        return grant
    }

    /// Grants a whole chunk on credit.
    mutating func takeWhole(_ size: Int, at now: Instant) -> Grant {
        if let time = waitForWhole(at: now) { return .wait(time) }
        spend(size)
        return .move(size)
    }
}

struct ThrottleTests {
    private static func at(_ milliseconds: Int64) -> Moment { Moment(nanoseconds: milliseconds * 1_000_000) }

    @Test("after a pause a 24th of a second's bytes may go at once, then only what is earned")
    func burst() {
        var throttle = Throttle(rate: 48_000, at: Self.at(0))
        #expect(throttle.take(100_000, at: Self.at(60_000)) == .move(2000))
        #expect(throttle.take(100_000, at: Self.at(60_000)) == .wait(.nanoseconds(20_833_334)))
        #expect(throttle.take(100_000, at: Self.at(60_030)) == .move(1440))
    }

    @Test("a small rest goes as soon as it is earned")
    func rest() {
        var throttle = Throttle(rate: 48_000, at: Self.at(0))
        #expect(throttle.take(1000, at: Self.at(0)) == .move(1000))
        #expect(throttle.take(48, at: Self.at(0)) == .wait(.milliseconds(1)))
        #expect(throttle.take(48, at: Self.at(1)) == .move(48))
    }

    @Test(
        "over ten minutes not a byte more or less than the rate is granted",
        arguments: [1, 7, 8000, 65_536, 104_857_600])
    func exact(rate: Int) {
        var random = SplitMix(state: UInt64(rate))
        var throttle = Throttle(rate: rate, at: Self.at(0))
        _ = throttle.take(.max, at: Self.at(0))
        var now: Int64 = 0
        var granted = 0
        while now < 600_000_000_000 {
            switch throttle.take(1 << 30, at: Moment(nanoseconds: now)) {
            case .move(let count): granted += count
            case .wait(let time): now += time.wholeNanoseconds + Int64.random(in: 0...1_000_000, using: &random)
            }
        }
        let earned = Int(Int128(now) * Int128(rate) / 1_000_000_000)
        #expect(granted <= earned)
        #expect(granted >= earned - rate / 24 - 2)
    }

    @Test("a chunk that came on credit is waited for before the next one")
    func debt() {
        var throttle = Throttle(rate: 1000, at: Self.at(0))
        #expect(throttle.takeWhole(520, at: Self.at(0)) == .move(520))
        #expect(throttle.takeWhole(1, at: Self.at(0)) == .wait(.nanoseconds(520_000_000)))
        #expect(throttle.takeWhole(1, at: Self.at(500)) == .wait(.nanoseconds(20_000_000)))
        #expect(throttle.takeWhole(1, at: Self.at(520)) == .move(1))
    }

    @Test("time that stands still or runs back earns nothing")
    func backwards() {
        var throttle = Throttle(rate: 1000, at: Self.at(1000))
        #expect(throttle.take(20, at: Self.at(1000)) == .move(20))
        #expect(throttle.take(20, at: Self.at(0)) == .wait(.nanoseconds(20_000_000)))
    }
}

/// A small seeded generator.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
