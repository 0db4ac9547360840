import TestSupport
import Testing

@testable import ByteClubHTTP

struct RateScheduleTests {
    private static let hour = 60
    /// From 500 KiB a second by day, with a pause, and none at night, to 2 MiB a second for the rest.
    private let schedule = RateSchedule(
        otherwise: 2 << 20,
        spans: [
            .init(from: 18 * hour, to: 19 * hour, rate: 0),
            .init(days: [0, 6], from: 8 * hour, to: 20 * hour, rate: 500),
            .init(days: [6], from: 22 * hour + 30, to: 30 * hour, rate: nil),
        ])

    @Test("the first span that contains a minute applies, and spans may pass midnight")
    func rates() {
        for (weekday, minute, rate) in [
            (0, 8 * 60 - 1, 2 << 20), (0, 8 * 60, 500), (6, 18 * 60 - 1, 500), (0, 18 * 60, 0), (2, 18 * 60, 0),
            (0, 19 * 60, 500), (2, 19 * 60, 2 << 20), (0, 20 * 60, 2 << 20), (6, 22 * 60 + 29, 2 << 20),
            (6, 22 * 60 + 30, nil), (0, 0, nil), (0, 6 * 60 - 1, nil), (0, 6 * 60, 2 << 20), (6, 0, 2 << 20),
        ] as [(Int, Int, Int?)] {
            #expect(schedule.rate(weekday: weekday, minute: minute) == rate, "\(weekday) \(minute)")
        }
    }

    @Test("too many spans and impossible numbers are refused")
    func impossible() throws {
        let day = RateSchedule.Span(from: 0, to: 1440, rate: 1)
        try RateSchedule(spans: [day, .init(days: [6], from: 1439, to: 2879, rate: 0)]).check()
        #expect(throws: TransferError.self) { try RateSchedule(spans: Array(repeating: day, count: 101)).check() }
        for (days, from, to, rate) in [
            ([0], -1, 5, 1), ([0], 1440, 1445, 1), ([0], 5, 1446, 1), ([0], 5, 5, 1), ([0], 5, -1, 1), ([0], 1, 2, -1),
            ([0], 1, 2, .max), ([], 1, 2, 1), ([-1], 1, 2, 1), ([0, 7], 1, 2, 1), ([0], .max, .min, 1),
        ] as [(Set<Int>, Int, Int, Int)] {
            let schedule = RateSchedule(spans: [.init(days: days, from: from, to: to, rate: rate)])
            #expect(throws: TransferError.self) { try schedule.check() }
        }
    }

    /// Berlin: an hour ahead of Greenwich, two from 2026-03-29 to 2026-10-25, 01:00 UTC.
    private func berlin(_ seconds: Int64) -> (weekday: Int, minute: Int) {
        let local = seconds + ((1_774_746_000..<1_792_890_000).contains(seconds) ? 7200 : 3600)
        // 1970 began with a Thursday.
        return (Int((local / 86400 + 3) % 7), Int(local % 86400 / 60))
    }

    @Test("the next change follows the local clock over daylight saving time")
    func summerTime() {
        let schedule = RateSchedule(spans: [.init(days: [6], from: 190, to: 240, rate: 1 << 20)])
        // 01:50 in winter, 20 minutes before the clock that goes from 02:00 to 03:00 shows 03:10.
        let spring: Int64 = 1_774_746_000 - 600
        #expect(schedule.current(at: spring, localTime: berlin).nextChange == spring + 1200)
        // 02:50 in summer; the clock shows 02:00 to 02:59 twice, and 03:10 is an hour and 20 minutes away.
        let autumn: Int64 = 1_792_890_000 - 600
        #expect(schedule.current(at: autumn, localTime: berlin).nextChange == autumn + 3600)
        #expect(schedule.current(at: autumn + 3600, localTime: berlin).nextChange == autumn + 4800)
    }

    @Test("the changes of a schedule agree with the limit of every minute")
    func walk() throws {
        var time: Int64 = 1_774_660_000
        let end = time + 3 * 86400
        while time < end {
            let (rate, next) = schedule.current(at: time, localTime: berlin)
            let until = try #require(next)
            #expect(until > time && until <= time + 3600)
            for second in stride(from: time, to: until, by: 7) {
                let (weekday, minute) = berlin(second)
                #expect(schedule.rate(weekday: weekday, minute: minute) == rate)
            }
            time = until
        }
        #expect(RateSchedule(otherwise: 7).current(at: time) == (7, nil))
        let (weekday, minute) = RateSchedule.localTime(at: time)
        #expect((0..<7).contains(weekday) && (0..<1440).contains(minute))
    }
}
