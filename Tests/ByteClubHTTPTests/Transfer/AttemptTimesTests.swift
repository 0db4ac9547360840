import Testing

@testable import ByteClubHTTP

struct AttemptTimesTests {
    private static func at(_ milliseconds: Int64) -> Moment { Moment(nanoseconds: milliseconds * 1_000_000) }

    private func filled(_ change: (inout AttemptTimes) -> Void) -> TaskMetrics.Attempt {
        var times = AttemptTimes(
            queued: Self.at(0), launched: Self.at(1), resolved: Self.at(3), connected: Self.at(7), secured: Self.at(15),
            sent: Self.at(31), answered: Self.at(63), ended: Self.at(127))
        change(&times)
        var attempt = TaskMetrics.Attempt()
        times.fill(&attempt)
        return attempt
    }

    @Test("every phase lasts from the end of the one before to its own")
    func whole() {
        let attempt = filled { _ in }
        #expect(attempt.queue == .milliseconds(1) && attempt.lookup == .milliseconds(2))
        #expect(attempt.connect == .milliseconds(4) && attempt.tls == .milliseconds(8))
        #expect(attempt.send == .milliseconds(16) && attempt.wait == .milliseconds(32))
        #expect(attempt.receive == .milliseconds(64) && attempt.total == .milliseconds(127))
    }

    @Test("what did not happen took no time, and the phase in which an attempt failed took the rest")
    func gaps() {
        let plain = filled { $0.secured = nil }
        #expect(plain.tls == .zero && plain.send == .milliseconds(24))
        let early = filled { $0.sent = nil }
        #expect(early.send == .zero && early.wait == .milliseconds(48))
        let connecting = filled {
            ($0.connected, $0.secured, $0.sent, $0.answered) = (nil, nil, nil, nil)
        }
        #expect(connecting.connect == .milliseconds(124) && connecting.tls == .zero && connecting.receive == .zero)
        let resolving = filled {
            ($0.resolved, $0.connected, $0.secured, $0.sent, $0.answered) = (nil, nil, nil, nil, nil)
        }
        #expect(resolving.lookup == .milliseconds(126) && resolving.receive == .zero)
    }

    @Test("the parts add up to the whole and none is negative, whatever the moments are")
    func sum() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix(state: seed)
        for _ in 0..<10_000 {
            func any() -> Moment? { Bool.random(using: &random) ? Self.at(.random(in: 0...100, using: &random)) : nil }
            let start = Int64.random(in: 0...50, using: &random)
            let launched = start + .random(in: 0...20, using: &random)
            let times = AttemptTimes(
                queued: Self.at(start), launched: Self.at(launched), resolved: any(), connected: any(), secured: any(),
                sent: any(), answered: any(), ended: Self.at(launched + .random(in: 0...60, using: &random)))
            var attempt = TaskMetrics.Attempt()
            times.fill(&attempt)
            let parts = [attempt.queue, attempt.lookup, attempt.connect, attempt.tls, attempt.send, attempt.wait]
            #expect(attempt.total == times.queued.duration(to: times.ended), "seed \(seed)")
            #expect((parts + [attempt.receive]).allSatisfy { $0 >= .zero }, "seed \(seed)")
        }
    }
}
