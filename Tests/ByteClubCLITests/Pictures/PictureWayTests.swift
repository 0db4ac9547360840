import ByteClubFiles
import Glibc
import TestSupport
import Testing

@testable import ByteClubCLI

@Suite("How a terminal takes pictures") struct PictureWayTests {
    private static let terminal = Terminal(
        isInputTerminal: true, isOutputTerminal: true, isErrorTerminal: true, columns: { 80 })

    private static func known(_ environment: [String: String], flag: PictureWay? = nil) -> PictureWay? {
        PictureWay.known(flag: flag, environment: environment, terminal: terminal)
    }

    @Test("the flag counts before the environment, and that before a question")
    func order() {
        #expect(Self.known(["TERM": "xterm-256color"]) == nil)
        #expect(Self.known(["TERM": "xterm-kitty"]) == .kitty && Self.known(["KITTY_WINDOW_ID": "1"]) == .kitty)
        #expect(Self.known(["LC_TERMINAL": "iTerm2"]) == .iterm && Self.known(["WEZTERM_PANE": "0"]) == .iterm)
        #expect(Self.known(["TERM": "xterm-kitty"], flag: .blocks) == .blocks)
        #expect(Self.known(["TERM": "tmux-256color", "KITTY_WINDOW_ID": "1"]) == .blocks)
        #expect(Self.known(["TERM": "xterm", "STY": "1.x"]) == .blocks)
        #expect(Self.known(["TERM": "linux", "LANG": "de_DE.ISO-8859-1"]) == PictureWay.none)
        for environment in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
            #expect(Self.known(environment.merging(["KITTY_WINDOW_ID": "1"]) { $1 }) == PictureWay.none)
        }
        let pipe = PictureWay.known(flag: nil, environment: ["KITTY_WINDOW_ID": "1"], terminal: .none)
        #expect(pipe == PictureWay.none)
        var half = Self.terminal
        half.isInputTerminal = false
        #expect(PictureWay.known(flag: nil, environment: ["TERM": "xterm"], terminal: half) == .blocks)
    }

    @Test("answers of terminals")
    func answers() {
        let told = { PictureWay.told(by: Array(($0 as String).utf8), environment: [:]) }
        #expect(told("\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[?62;c") == .kitty)
        #expect(told("\u{1B}[?62;4;22c") == .blocks && told("") == .blocks && told("\u{1B}[?62;4") == .blocks)
    }

    /// A pseudo-terminal whose other end is silent, or the test.
    private static func open() throws -> (outer: Int32, inner: Int32) {
        var (outer, inner): (Int32, Int32) = (-1, -1)
        guard unsafe openpty(&outer, &inner, nil, nil, nil) == 0 else { throw FileFailure("read", "a terminal") }
        return (outer, inner)
    }

    private static func flags(_ descriptor: Int32) -> tcflag_t {
        var state = termios()
        return unsafe tcgetattr(descriptor, &state) == 0 ? state.c_lflag : 0
    }

    @Test("a terminal that never answers is left as it was, and gets half blocks")
    func silence() throws {
        let (outer, inner) = try Self.open()
        defer { _ = (close(outer), close(inner)) }
        let before = Self.flags(inner)
        let answer = try TerminalQuery.ask(TerminalQuery.pictures, input: inner, output: inner)
        #expect(answer.isEmpty && PictureWay.told(by: answer, environment: [:]) == .blocks)
        #expect(before & tcflag_t(ECHO) != 0 && Self.flags(inner) == before)
    }

    @Test("what waits in the terminal is read up to the end of an answer; Ctrl-C ends it; both leave it as it was")
    func answered() throws {
        for (keys, isCancelled) in [("\u{1B}[?62;4c", false), ("\u{03}", true)] {
            let (outer, inner) = try Self.open()
            defer { _ = (close(outer), close(inner)) }
            // Typed before the question, so that no clock decides; without the line editing it would wait for a line.
            var state = termios()
            _ = unsafe tcgetattr(inner, &state)
            state.c_lflag &= ~tcflag_t(ICANON | ISIG)
            _ = unsafe tcsetattr(inner, TCSANOW, &state)
            let before = Self.flags(inner)
            try LocalFile.write(Array(keys.utf8), to: outer, "a terminal")
            if isCancelled {
                #expect(throws: Failure.self) {
                    try TerminalQuery.ask(TerminalQuery.pictures, input: inner, output: inner)
                }
            } else {
                let answer = try TerminalQuery.ask(TerminalQuery.pictures, input: inner, output: inner)
                #expect(answer == Array(keys.utf8))
            }
            #expect(Self.flags(inner) == before)
        }
    }
}
