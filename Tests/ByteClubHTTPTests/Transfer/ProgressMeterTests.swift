import Testing

@testable import ByteClubHTTP

struct ProgressMeterTests {
    @Test("a million changes in ten seconds are told a hundred times, the rate is right")
    func coalesced() {
        var meter = ProgressMeter()
        meter.begin(attempt: 1, expectedToSend: 1_000_000_000, at: Moment(nanoseconds: 0))
        var told = 0
        for step in 1...1_000_000 {
            let now = Moment(nanoseconds: Int64(step) * 10_000)
            if meter.update(sent: Int64(step) * 1000, received: 0, expectedToReceive: 0, at: now) { told += 1 }
        }
        #expect((95...100).contains(told))
        let last = meter.finish(at: Moment(nanoseconds: 10_000_000_000))
        #expect(last.bytesSent == 1_000_000_000)
        #expect((99e6...101e6).contains(last.bytesPerSecond))
    }

    @Test("what was withheld is due when no more bytes come, then that the rate is none, then nothing")
    func due() {
        var meter = ProgressMeter()
        meter.begin(attempt: 1, expectedToSend: 0, at: Moment(nanoseconds: 0))
        #expect(meter.due == .distantFuture)
        let isTold = meter.update(sent: 0, received: 500, expectedToReceive: 900, at: Moment(nanoseconds: 30_000_000))
        #expect(!isTold && meter.due == Moment(nanoseconds: 100_000_000))
        meter.takeDue(at: meter.due)
        #expect(meter.progress.bytesReceived == 500 && meter.progress.bytesPerSecond == 5000)
        #expect(meter.due == Moment(nanoseconds: 2_100_000_000))
        meter.takeDue(at: meter.due)
        #expect(meter.progress.bytesPerSecond == 0 && meter.due == .distantFuture)
        let isToldAgain = meter.update(
            sent: 0, received: 600, expectedToReceive: 900, at: Moment(nanoseconds: 3_000_000_000))
        #expect(isToldAgain && meter.progress.bytesPerSecond > 0)
        meter.begin(attempt: 2, expectedToSend: 0, at: Moment(nanoseconds: 3_000_000_000))
        #expect(meter.due == .distantFuture, "the counters begin anew, which is told with the first byte")
    }

    @Test("counters never shrink within an attempt and start over with the next")
    func monotonic() {
        var meter = ProgressMeter()
        meter.begin(attempt: 1, expectedToSend: 10, at: Moment(nanoseconds: 0))
        _ = meter.update(sent: 7, received: 0, expectedToReceive: 0, at: Moment(nanoseconds: 1))
        _ = meter.update(sent: 3, received: 0, expectedToReceive: 0, at: Moment(nanoseconds: 2))
        #expect(meter.progress.bytesSent == 7)
        meter.begin(attempt: 2, expectedToSend: 10, at: Moment(nanoseconds: 3))
        #expect(meter.progress.bytesSent == 0 && meter.progress.attempt == 2)
    }

    @Test("the time left is told of the direction whose length is known, once there is a rate")
    func timeLeft() {
        var progress = TaskProgress()
        #expect(progress.timeLeft == nil)
        (progress.bytesExpectedToSend, progress.bytesSent) = (1000, 400)
        #expect(progress.timeLeft == nil)
        progress.bytesPerSecond = 200
        #expect(progress.timeLeft == .seconds(3))
        progress.bytesSent = 1000
        #expect(progress.timeLeft == .zero)
        (progress.bytesExpectedToReceive, progress.bytesReceived) = (300, 100)
        #expect(progress.timeLeft == .seconds(1))
        progress.bytesExpectedToReceive = -1
        progress.bytesExpectedToSend = -1
        #expect(progress.timeLeft == nil)
    }
}
