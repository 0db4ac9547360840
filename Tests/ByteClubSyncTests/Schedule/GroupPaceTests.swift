import Testing

@testable import ByteClubSync

@Suite struct GroupPaceTests {
    @Test("a step moves what the way carries in a second, a mebibyte at least and 64 at most")
    func second() {
        var pace = GroupPace()
        #expect(pace.bytes == 8 << 20)
        pace.note(8 << 20, lasting: .seconds(8))
        #expect(pace.bytes == 1 << 20)
        pace.note(1 << 20, lasting: .milliseconds(500))
        #expect(pace.bytes == 2 << 20)
        pace.note(16 << 20, lasting: .seconds(4_000))
        #expect(pace.bytes == 1 << 20)
        for _ in 0..<9 { pace.note(64 << 20, lasting: .zero) }
        #expect(pace.bytes == 64 << 20)
    }

    @Test(
        "a step that was fast for once moves no more than four times as much the next time, and a small one tells nothing"
    )
    func growth() {
        var pace = GroupPace()
        pace.note(8 << 20, lasting: .microseconds(1))
        #expect(pace.bytes == 32 << 20)
        pace.note(1_000, lasting: .seconds(100))
        #expect(pace.bytes == 32 << 20)
    }
}
