import Testing

@testable import ByteClubCLI

@Suite struct LinePaceTests {
    @Test("on a slow line only a second's worth is under way at once, and on a fast one as much as ever")
    func paces() {
        var pace = LinePace()
        #expect(pace.mostBytes == 12 << 20)
        for _ in 0..<5 { pace.take(7 << 20, in: 70) }
        #expect(pace.mostBytes == (7 << 20) / 70)
        for _ in 0..<30 { pace.take(7 << 20, in: 0.1) }
        #expect(pace.mostBytes == 12 << 20)
    }
}
