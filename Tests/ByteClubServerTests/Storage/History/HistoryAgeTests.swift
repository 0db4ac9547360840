import TestSupport
import Testing

@testable import ByteClubServer

@Suite("Time that has passed for certain")
struct HistoryAgeTests {
    private static func up(_ seconds: Int64, boot: String = "a") -> Uptime { Uptime(boot: boot, seconds: seconds) }

    @Test("It is what both clocks agree on")
    func agrees() {
        let start = HistoryAge(wall: 1000, uptime: Self.up(10))
        #expect(start.advanced(wall: 1060, uptime: Self.up(70)).seconds == 60)
        #expect(start.advanced(wall: 1_000_000_000, uptime: Self.up(70)).seconds == 60)
        #expect(start.advanced(wall: 1001, uptime: Self.up(70)).seconds == 1)
        #expect(start.advanced(wall: -5, uptime: Self.up(70)).seconds == 0)
        #expect(start.advanced(wall: 1060, uptime: Self.up(70, boot: "b")).seconds == 0)
    }

    @Test("Whatever the clocks do, it never goes back, and never beyond the time that really passed")
    func bounded() {
        for seed in UInt64(0)..<500 {
            var generator = SeededGenerator(seed: seed)
            var (wall, up, boot, real) = (Int64(1000), Int64(10), 0, Int64(0))
            var age = HistoryAge(wall: wall, uptime: Self.up(up, boot: "0"))
            for _ in 0..<50 {
                let passed = Int64.random(in: 0..<1000, using: &generator)
                (wall, up, real) = (wall + passed, up + passed, real + passed)
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: wall += Int64.random(in: -1_000_000_000...1_000_000_000, using: &generator)
                case 1: (boot, up) = (boot + 1, Int64.random(in: 0..<5000, using: &generator))
                default: break
                }
                let next = age.advanced(wall: wall, uptime: Self.up(up, boot: "\(boot)"))
                #expect(next.seconds >= age.seconds && next.seconds <= real, "seed \(seed)")
                age = next
                #expect(HistoryAge(text: age.text) == age)
            }
        }
    }

    @Test(
        "What the database keeps is read back, and anything else is refused",
        arguments: ["", "1 2 3", "x 2 3 b", "1 2 3 4 5"])
    func text(_ text: String) { #expect(HistoryAge(text: text) == nil) }
}
