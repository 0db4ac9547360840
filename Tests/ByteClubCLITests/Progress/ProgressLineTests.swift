import ByteClubCore
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite struct ProgressLineTests {
    static let halfway = ProgressState(
        name: "ridge.jpg", place: (2, 3), completed: 1 << 20, total: 2 << 20, bytesPerSecond: Double(256 * 1024),
        elapsed: 4)

    @Test("a line loses the time left, the rate, the sizes and then part of the name as it narrows")
    func narrowing() throws {
        let frames = [100, 72, 60, 50, 48, 36, 24, 20, 12, 4, 1].map { columns in
            "\(columns)|" + ProgressLine.text(Self.halfway, style: .bar(columns: columns))
        }
        try Golden.check(frames.joined(separator: "\n") + "\n", "progress-narrowing.txt")
    }

    @Test("no line is as wide as the terminal", arguments: 1...120)
    func width(_ columns: Int) {
        var state = Self.halfway
        state.name = "ридж 山の写真 with a long name.jpg"
        let line = ProgressLine.text(state, style: .bar(columns: columns))
        #expect(DisplayWidth.of(line) < columns)
    }

    @Test("frames of a transfer from start to end")
    func frames() throws {
        let total: Int64 = 10 << 20
        let states = [
            ProgressState(name: "a.jpg", completed: 0, total: nil),
            ProgressState(name: "a.jpg", completed: 0, total: total),
            ProgressState(name: "a.jpg", completed: 1 << 20, total: total, bytesPerSecond: Double(1 << 20), elapsed: 1),
            ProgressState(name: "a.jpg", completed: 50_000, total: total, bytesPerSecond: 20_000, elapsed: 2.5),
            ProgressState(name: "a.jpg", completed: 2 << 20, total: total, bytesPerSecond: Double(1 << 20), elapsed: 2),
            ProgressState(name: "a.jpg", completed: 5 << 20, total: total, bytesPerSecond: Double(1 << 10), elapsed: 9),
            ProgressState(
                name: "a.jpg", completed: 5 << 20, total: total, bytesPerSecond: Double(1 << 10), elapsed: 20, idle: 12),
            ProgressState(
                name: "a.jpg", completed: total - 1, total: total, bytesPerSecond: Double(1 << 20), elapsed: 10),
            ProgressState(name: "a.jpg", completed: total, total: total, bytesPerSecond: Double(1 << 20), elapsed: 10),
            ProgressState(name: "a\u{1B}[31m.jpg", completed: 0, total: 0),
        ]
        let lines = states.flatMap { state in
            [ProgressLine.text(state, style: .bar(columns: 80)), ProgressLine.text(state, style: .plain)]
        }
        #expect(!lines.joined().unicodeScalars.contains("\u{1B}"))
        try Golden.check(lines.joined(separator: "\n") + "\n", "progress-frames.txt")
    }

    @Test("durations are short", arguments: [(1, "1s"), (59, "59s"), (60, "1m00s"), (185, "3m05s"), (7620, "2h07m")])
    func duration(_ seconds: Int, _ text: String) {
        #expect(ProgressLine.duration(seconds) == text)
    }
}

@Suite struct RateMeterTests {
    @Test("a steady rate is told exactly")
    func steady() throws {
        var meter = RateMeter(time: 0, count: 0)
        for second in 1...60 { meter.take(time: Double(second), count: Int64(second) * 1000) }
        let rate = try #require(meter.bytesPerSecond)
        #expect(abs(rate - 1000) < 0.001)
    }

    @Test("after the rate steps by four, the estimate is nearer to the new one within a half-life")
    func step() throws {
        var meter = RateMeter(time: 0, count: 0)
        for second in 1...60 { meter.take(time: Double(second), count: Int64(second) * 1000) }
        for second in 61...76 { meter.take(time: Double(second), count: 60_000 + Int64(second - 60) * 4000) }
        let rate = try #require(meter.bytesPerSecond)
        #expect(rate > 2500)
    }

    @Test("a count that shrinks after a retry makes no negative rate")
    func retry() throws {
        var meter = RateMeter(time: 0, count: 0)
        meter.take(time: 1, count: 1000)
        meter.take(time: 2, count: 0)
        let rate = try #require(meter.bytesPerSecond)
        #expect(rate >= 0)
    }

    @Test("two counts at one moment divide by nothing")
    func zeroTime() {
        var meter = RateMeter(time: 0, count: 0)
        meter.take(time: 0, count: 1000)
        #expect(meter.bytesPerSecond == nil)
    }
}

@Suite struct ByteRateTests {
    @Test(
        "rates are read as people type them",
        arguments: [
            ("800", 800), ("500K", 512_000), ("500k", 512_000), ("2M", 2 << 20), ("2MiB", 2 << 20), ("2MB/s", 2 << 20),
            ("1.5m", 3 << 19), ("1G", 1 << 30), ("10kBps", 10_240),
        ])
    func reads(_ text: String, _ rate: Int) {
        #expect(ByteRate(text)?.bytesPerSecond == rate)
    }

    @Test(
        "what is no rate is refused",
        arguments: [
            "", "0", "-1", "K", "fast", "1e3", "1.K", "1.2.3", "0x10", "inf", "nan", "99999999999999999G", "1T",
        ])
    func refuses(_ text: String) {
        #expect(ByteRate(text) == nil)
    }
}
