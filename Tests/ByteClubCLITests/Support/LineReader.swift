import Synchronization
import TestSupport

@testable import ByteClubCLI

/// A user who closes the terminal after some lines, with a pager that writes to a file.
final class LineReader: Sendable {
    private let read = Mutex(0)
    private let enough: Int

    init(lines enough: Int) { self.enough = enough }

    /// How many lines the terminal got.
    var count: Int { read.withLock { $0 } }

    /// The terminal, of three rows, as commands see it, and the pager's file.
    func context(of world: World) -> (Context, pagerFile: String) {
        let file = world.home.path + "/paged"
        let terminal = Terminal(
            isInputTerminal: true, isOutputTerminal: true, isErrorTerminal: false, columns: { 80 }, rows: { 3 })
        var context = world.context(["PAGER": "cat >'\(file)'", "TERM": "xterm"], terminal: terminal)
        context.output = Output { [self] bytes in
            let count = read.withLock { lines in
                lines += bytes.count { $0 == UInt8(ascii: "\n") }
                return lines
            }
            if count >= enough { throw Output.BrokenPipe() }
        }
        return (context, file)
    }
}
