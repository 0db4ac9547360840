import ByteClubCore
import Synchronization

/// The line below all that is printed on a terminal.
///
/// It is drawn over itself, and only when it has changed; it hides no cursor and moves none but to the line's start. What
/// is written through ``above(_:)`` scrolls above it.
final class StatusLine: Sendable {
    private struct State {
        var drawn = ""
        var taskbar = TaskbarProgress.none
        /// How many times a signal had cleared it when it was written.
        var clearings = 0
    }

    private let output: Output
    private let columns: @Sendable () -> Int?
    private let hasTaskbar: Bool
    private let state = Mutex(State())

    /// A line on a terminal that is `columns` wide whenever it is asked.
    init(_ output: Output, columns: @escaping @Sendable () -> Int?, _ environment: [String: String]) {
        self.output = output
        self.columns = columns
        hasTaskbar = TaskbarProgress.isKnown(to: environment)
    }

    /// Writes lines that stay, and the line below them over what was there; an empty one takes it away.
    ///
    /// - Throws: What the terminal's output throws.
    func show(_ line: String, below lines: [String] = [], taskbar: TaskbarProgress = .none) throws {
        try state.withLock { state in
            var text = ""
            if hasTaskbar {
                let clearings = TaskbarProgress.clearings.load(ordering: .relaxed)
                let isStale = taskbar != .none && clearings != state.clearings
                if taskbar != state.taskbar || isStale { text = taskbar.sequence }
                (state.taskbar, state.clearings) = (taskbar, clearings)
                TaskbarProgress.isShown.store(taskbar != .none, ordering: .relaxed)
            }
            text += frame(line, below: lines, &state.drawn)
            if !text.isEmpty { try output.write(text) }
        }
    }

    /// Writes the line where nothing else is on it.
    func showUnlessInUse(_ line: String) throws {
        try state.withLock { state in
            if state.drawn.isEmpty { try output.write(frame(line, below: [], &state.drawn)) }
        }
    }

    /// Takes the line away, with what a terminal wrote behind it for Ctrl-C.
    func clear() throws {
        state.withLock { if !$0.drawn.isEmpty { $0.drawn += "  " } }
        try show("")
    }

    /// An output whose writes scroll above the line.
    func above(_ other: Output) -> Output {
        other.around { [self] write in
            try state.withLock { state in
                let line = state.drawn
                if line.isEmpty { return try write() }
                try output.write(frame("", below: [], &state.drawn))
                try write()
                try output.write(frame(line, below: [], &state.drawn))
            }
        }
    }

    private func frame(_ line: String, below lines: [String], _ drawn: inout String) -> String {
        if lines.isEmpty, line == drawn { return "" }
        var text = ""
        var covered = min(DisplayWidth.of(drawn), max(0, (columns() ?? 80) - 1))
        for next in lines {
            text += "\r" + next + String(repeating: " ", count: max(0, covered - DisplayWidth.of(next))) + "\n"
            covered = 0
        }
        let blanks = String(repeating: " ", count: max(0, covered - DisplayWidth.of(line)))
        if !(line + blanks).isEmpty { text += "\r" + line + blanks }
        if line.isEmpty, !blanks.isEmpty { text += "\r" }
        drawn = line
        return text
    }
}
