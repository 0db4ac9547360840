import Dispatch
import FoundationEssentials
import Glibc
import Synchronization

/// A terminal whose keys are read one by one, and whose last lines are redrawn in place.
///
/// Keys come from standard input and rows go to standard error. Ctrl-C and the like are keys, not signals, until
/// ``restore()``.
package final class KeyTerminal: Sendable {
    private struct State {
        var isOpen = true
        var region = LiveRegion()
        var parser = KeyParser()
    }

    /// The keys, for one reader; the sequence ends when the terminal is closed.
    package let keys: AsyncStream<Key>
    private let typed: AsyncStream<Key>.Continuation
    private let modes: termios
    private let state = Mutex(State())

    /// Whether the environment allows colours: `NO_COLOR` is empty.
    package static var hasColours: Bool { (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty }

    /// Opens the terminal; nil without one, in the background of a shell, or where it can only print (`TERM=dumb`).
    package init?() {
        let isDumb = ProcessInfo.processInfo.environment["TERM"] == "dumb"
        guard !isDumb, isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1, Self.isInForeground else { return nil }
        var modes = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &modes) == 0 else { return nil }
        self.modes = modes
        (keys, typed) = AsyncStream.makeStream()
        guard readKeysOneByOne() else { return nil }

        let input = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .global())
        input.setEventHandler { [self] in if !readKeys() { input.cancel() } }
        input.resume()
        for number in [SIGWINCH, SIGCONT] {
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [self] in
                _ = source  // The handler keeps the source alive.
                // The shell has set its own modes meanwhile.
                if number == SIGCONT, Self.isInForeground, state.withLock({ $0.isOpen }) { _ = readKeysOneByOne() }
                typed.yield(.redraw)
            }
            source.resume()
        }
    }

    /// The system stops a program in a shell's background that changes the terminal's modes.
    private static var isInForeground: Bool { tcgetpgrp(STDIN_FILENO) == getpgrp() }

    /// The terminal's size.
    package var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Draws rows in place of those before; see ``LiveRegion``.
    package func draw(_ rows: [String]) { write { $0.draw(rows) } }

    /// Writes lines that stay, above the rows.
    package func write(_ lines: String, above rows: [String]) { write { $0.write(lines, above: rows) } }

    /// Restores the terminal's modes and its cursor; after this, nothing is drawn and no key is read.
    ///
    /// - Parameter isCleared: Whether the rows are removed.
    package func restore(isCleared: Bool = false) {
        state.withLock { state in
            guard state.isOpen else { return }
            state.isOpen = false
            writeToErrors(isCleared ? state.region.clear() : state.region.end())
            var modes = modes
            unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &modes)
        }
        typed.finish()
    }

    private func write(_ text: (inout LiveRegion) -> String) {
        state.withLock { state in if state.isOpen { writeToErrors(text(&state.region)) } }
    }

    private func readKeysOneByOne() -> Bool {
        var silent = modes
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        return unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &silent) == 0
    }

    /// Reads the typed keys; false when no more can follow.
    private func readKeys() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
        if count < 0, errno == EINTR || errno == EAGAIN { return true }
        guard count > 0 else {
            typed.finish()
            return false
        }
        let keys = state.withLock { $0.isOpen ? $0.parser.take(bytes.prefix(count)) : [] }
        for key in keys { typed.yield(key) }
        return true
    }
}
