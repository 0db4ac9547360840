import Glibc
import Synchronization

/// Shows on standard error how several downloads come on.
///
/// A terminal has a line for each that is under way, painted anew; a pipe or a file gets a line for each once a second
/// and at its end.
final class ProgressDisplay: Sendable {
    private struct State {
        var lines: [(id: UInt64, text: String)] = []
        var painted = 0
        /// When each one had its last line in a pipe.
        var told: [UInt64: ContinuousClock.Instant] = [:]
    }

    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let state = Mutex(State())

    /// Shows a download that is under way.
    func show(_ id: UInt64, _ text: String) {
        state.withLock { state in
            if isTerminal {
                if let index = state.lines.firstIndex(where: { $0.id == id }) {
                    state.lines[index].text = text
                } else {
                    state.lines.append((id, text))
                }
                paint(&state)
            } else if state.told[id].map({ .now - $0 >= .seconds(1) }) ?? true {
                state.told[id] = .now
                tell(text)
            }
        }
    }

    /// Says how a download ended.
    func end(_ id: UInt64, _ text: String) {
        state.withLock { state in
            if isTerminal {
                state.lines.removeAll { $0.id == id }
                paint(&state, above: text + "\n")
            } else {
                tell(text)
            }
        }
    }

    /// Replaces the lines; one that is too long is cut off by the terminal (DECAWM).
    private func paint(_ state: inout State, above: String = "") {
        let up = state.painted > 0 ? "\u{1B}[\(state.painted)A" : ""
        let lines = above + state.lines.map { $0.text + "\n" }.joined()
        write("\u{1B}[?7l\(up)\r\u{1B}[J\(lines)\u{1B}[?7h", to: STDERR_FILENO)
        state.painted = state.lines.count
    }
}
