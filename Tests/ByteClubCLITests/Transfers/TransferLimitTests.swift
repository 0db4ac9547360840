import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubCLI
@testable import ByteClubHTTP

struct TransferLimitTests {
    private static func schedule(_ random: inout SeededGenerator) -> SyncSchedule {
        SyncSchedule(
            (0..<Int.random(in: 1...4, using: &random)).map { _ in
                let days = (0..<7).filter { _ in Bool.random(using: &random) }
                let start = 15 * Int.random(in: 0..<96, using: &random)
                let isWhole = Int.random(in: 0..<4, using: &random) == 0
                let rules: [SyncSchedule.Rule] = [
                    .pause, .unlimited, .limit(1 << Int.random(in: 0...49, using: &random)),
                    .limit(.random(in: 1...1_000_000_000_000_000, using: &random)),
                ]
                return SyncSchedule.Span(
                    days: days.isEmpty ? Set(0..<7) : Set(days), start: isWhole ? 0 : start,
                    end: isWhole ? 1_440 : start + 15 * Int.random(in: 1...96, using: &random),
                    rule: rules.randomElement(using: &random) ?? .pause)
            })
    }

    @Test(
        "limits that are shown are read as the same ones, and hold at the same times for a mirror and in the background"
    )
    func sameLimits() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("limits: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let schedule = Self.schedule(&random)
            let rates = RateSchedule(schedule)
            #expect(rates.canBeKept && SyncSchedule(rates) == schedule, "seed \(seed)")
            #expect(try SyncSchedule(parsing: "\(schedule)") == schedule, "seed \(seed): \(schedule)")
            for weekday in 0..<7 {
                for minute in stride(from: 0, to: 1_440, by: 15).flatMap({ [$0, $0 + 14] }) {
                    let rate = schedule.rule(weekday: weekday, minute: minute)?.rate
                    guard rates.rate(weekday: weekday, minute: minute) != rate else { continue }
                    Issue.record("seed \(seed): \(weekday) \(minute) in \(schedule)")
                }
            }
        }
    }

    @Test("the limit outside of all parts of the week is shown as the last one")
    func otherwise() {
        #expect("\(SyncSchedule(RateSchedule()))" == "unlimited")
        let week = RateSchedule(otherwise: 7, spans: [.init(days: [1, 2, 3, 5], from: 60, to: 1500, rate: nil)])
        #expect("\(SyncSchedule(week))" == "tue-thu,sat 01:00-01:00 unlimited; 7")
    }
}
