import Testing

@testable import ByteClubServer

@Suite struct HangupTests {
    @Test("SIGHUP ends a server at a terminal, unless it is to stay or ignored the signal from the start")
    func meaning() {
        #expect(Hangup(isAtTerminal: true, isIgnored: false, stays: false) == .end)
        #expect(Hangup(isAtTerminal: true, isIgnored: true, stays: false) == .reload)
        #expect(Hangup(isAtTerminal: true, isIgnored: false, stays: true) == .reload)
        #expect(Hangup(isAtTerminal: false, isIgnored: false, stays: false) == .reload)
    }
}
