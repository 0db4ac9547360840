import TestSupport
import Testing

@testable import ByteClubHTTP

struct RateScheduleTests {
    @Test("the first part of the day that a minute is in decides, and parts may go past midnight")
    func rates() throws {
        let schedule = try RateSchedule(arguments: ["2M", "pause@18:00-19:00", "500K@8-20", "off@22:30-06:00"])
        for (time, rate) in [
            (7 * 60 + 59, 2 << 20), (8 * 60, 500 << 10), (18 * 60 - 1, 500 << 10), (18 * 60, 0), (19 * 60, 500 << 10),
            (20 * 60, 2 << 20), (22 * 60 + 30, nil), (0, nil), (6 * 60 - 1, nil), (6 * 60, 2 << 20),
            (1440 + 18 * 60, 0), (-1, nil),
        ] {
            #expect(schedule.rate(atMinute: time) == rate, "\(time)")
        }
        #expect(schedule.nextChange(afterMinute: 8 * 60) == 18 * 60)
        #expect(schedule.nextChange(afterMinute: 23 * 60) == 24 * 60 + 6 * 60)
        #expect(RateSchedule(otherwise: 5).nextChange(afterMinute: 0) == nil)
        #expect(try RateSchedule(arguments: ["5@0-0", "7@3-4"]).nextChange(afterMinute: 3) == nil)
        #expect(try RateSchedule(arguments: ["pause@20-24"]).nextChange(afterMinute: 20 * 60) == 1440)
    }

    @Test("a schedule is printed in words that make the same one")
    func words() throws {
        #expect(RateSchedule().arguments == ["unlimited"])
        let words = ["2M", "1536K@08:00-18:00", "pause@22:00-06:00", "unlimited@00:00-24:00", "77@01:02-03:04"]
        #expect(try RateSchedule(arguments: words).arguments == words)
        #expect(
            try RateSchedule(arguments: ["1.5mib/s@8-18", "0.5g", "800B@8:05-8:06"]).arguments
                == ["512M", "1536K@08:00-18:00", "800@08:05-08:06"])
        let seed = UInt64.random(in: 0 ... .max)
        print("schedules: seed \(seed)")
        var records = RandomRecords(seed: seed)
        var read = 0
        for _ in 0..<2000 {
            let schedule = records.schedule()
            if (try? schedule.check()) == nil { continue }
            read += 1
            #expect(try RateSchedule(arguments: schedule.arguments) == schedule, "seed \(seed)")
        }
        #expect(read > 100)
    }

    @Test(
        "a word that is none is named",
        arguments: [
            "", "fast", "500X", "-5", "0", "1e9", ".5M", "5.M", "9999999999999999G", "@8-18", "5K@", "5K@8", "5K@8-25",
            "5K@24-8", "5K@8:5-9", "5K@8:60-9", "5K@-8-9", "5K@8-9-10", "5K@08:00:00-9", "5K@+8-9", "nan", "inf",
        ])
    func bad(word: String) {
        let error = #expect(throws: TransferError.self) { try RateSchedule(arguments: ["2M@1-2", word]) }
        #expect(error?.code == .badConfiguration && error?.message.contains("'\(word)'") == true)
    }

    @Test("two limits for the whole day, too many parts and impossible numbers are refused")
    func contradictions() {
        #expect(throws: TransferError.self) { try RateSchedule(arguments: ["2M", "3M"]) }
        #expect(throws: TransferError.self) { try RateSchedule(arguments: Array(repeating: "2M@1-2", count: 101)) }
        for (from, to, rate) in [(-1, 5, 1), (1440, 5, 1), (5, 1441, 1), (5, -1, 1), (1, 2, -1), (1, 2, .max)] {
            let schedule = RateSchedule(spans: [.init(from: from, to: to, rate: rate)])
            #expect(throws: TransferError.self) { try schedule.check() }
            _ = schedule.rate(atMinute: .min)
            _ = schedule.rate(atMinute: .max)
        }
    }

    /// Berlin: an hour ahead of Greenwich, two from 2026-03-29 to 2026-10-25, 01:00 UTC.
    private func berlin(_ seconds: Int64) -> Int {
        let ahead: Int64 = (1_774_746_000..<1_792_890_000).contains(seconds) ? 7200 : 3600
        return Int((seconds + ahead) % 86400 / 60)
    }

    @Test("the next change is asked of local clocks, also when they are set forward or back")
    func summerTime() throws {
        let schedule = try RateSchedule(arguments: ["1M@03:10-04:00"])
        // 01:50 in winter, 20 minutes before the clock that goes from 02:00 to 03:00 shows 03:10.
        let spring: Int64 = 1_774_746_000 - 600
        #expect(schedule.current(at: spring, minuteOfDay: berlin).nextChange == spring + 1200)
        // 02:50 in summer; the clock shows 02:00 to 02:59 twice, and 03:10 is an hour and 20 minutes away.
        let autumn: Int64 = 1_792_890_000 - 600
        #expect(schedule.current(at: autumn, minuteOfDay: berlin).nextChange == autumn + 3600)
        #expect(schedule.current(at: autumn + 3600, minuteOfDay: berlin).nextChange == autumn + 4800)
    }

    @Test("walking from change to change meets every minute with the limit that it has")
    func walk() throws {
        let schedule = try RateSchedule(arguments: ["2M", "500K@8-18", "pause@18-18:30", "off@23-5"])
        var time: Int64 = 1_774_660_000
        let end = time + 3 * 86400
        while time < end {
            let (rate, next) = schedule.current(at: time, minuteOfDay: berlin)
            let until = try #require(next)
            #expect(until > time && until <= time + 3600)
            for second in stride(from: time, to: until, by: 7) {
                #expect(schedule.rate(atMinute: berlin(second)) == rate)
            }
            time = until
        }
        #expect(RateSchedule(otherwise: 7).current(at: time) == (7, nil))
        #expect((0..<1440).contains(RateSchedule.localMinute(at: time)))
    }
}
