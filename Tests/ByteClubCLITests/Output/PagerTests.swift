import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ByteClubCLI

extension ProcessSignalTests {
    /// The pager for long results; it handles Ctrl-C while it runs, so one test at a time.
    struct PagerTests {
        private static let terminal = Terminal(
            isInputTerminal: true, isOutputTerminal: true, isErrorTerminal: true, columns: { 80 }, rows: { 24 })

        /// The output on a terminal.
        private final class Written: Sendable {
            let bytes = Mutex<[UInt8]>([])
            var output: Output { Output { bytes in self.bytes.withLock { $0 += bytes } } }
            var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
        }

        /// As the program does: a closed pipe is an error to be handled.
        init() { Glibc.signal(SIGPIPE, SIG_IGN) }

        private static func text(lines: Int) -> String { (0..<lines).map { "line \($0)\n" }.joined() }

        @Test(
            "a result that fits the screen is written to it, a longer one is the pager's, with less set up as git does")
        func length() throws {
            let folder = try TemporaryDirectory()
            let (file, variable) = (folder.path + "/shown", folder.path + "/less")
            let written = Written()
            let command = "cat >'\(file)'; printf '%s' \"$LESS\" >'\(variable)'; :"
            let pager = try #require(Pager(before: written.output, Self.terminal, ["PAGER": command]))
            try pager.show { try pager.output.write(Self.text(lines: 23)) }
            #expect(written.text == Self.text(lines: 23))
            #expect(unsafe access(file, F_OK) != 0)
            try pager.show {
                try pager.output.write(Self.text(lines: 20))
                try pager.output.write(Self.text(lines: 5000))
            }
            #expect(written.text == Self.text(lines: 23))
            #expect(
                String(decoding: try LocalFile.read(file), as: UTF8.self) == Self.text(lines: 20)
                    + Self.text(lines: 5000))
            #expect(String(decoding: try LocalFile.read(variable), as: UTF8.self) == "FRX")
            try pager.output.write("after\n")
            #expect(written.text == Self.text(lines: 23) + "after\n")
        }

        @Test("a pager that is left early ends nothing, and where it cannot be run the terminal gets the text")
        func early() throws {
            let text = Self.text(lines: 100_000)
            for (command, isShown) in [
                ("head -n 1 >/dev/null", true), ("exit 3;", true), ("/nowhere/at/all 2>/dev/null", false),
            ] {
                let written = Written()
                let pager = try #require(Pager(before: written.output, Self.terminal, ["BYTECLUB_PAGER": command]))
                try pager.show { try pager.output.write(text) }
                #expect(written.text == (isShown ? "" : text), "\(command)")
            }
        }

        @Test(
            "of a long result nothing is kept once the pager reads, or is gone",
            arguments: ["cat >/dev/null; exit 127", ":"])
        func memory(command: String) throws {
            let written = Written()
            let pager = try #require(Pager(before: written.output, Self.terminal, ["PAGER": command]))
            let piece = Self.text(lines: 10_000)
            try pager.show {
                for _ in 0..<30 { try pager.output.write(piece) }
                #expect(pager.keptCount == 0)
            }
            #expect(written.text == "", "what was read is not shown again")
        }

        @Test("there is no pager in a pipe, where TERM is dumb, and where none is wanted")
        func none() {
            let written = Written()
            #expect(Pager(before: written.output, .none, ["PAGER": "less"]) == nil)
            for environment in [["PAGER": ""], ["BYTECLUB_PAGER": "cat", "PAGER": "less"], ["TERM": "dumb"]] {
                #expect(Pager(before: written.output, Self.terminal, environment) == nil)
            }
        }
    }
}
