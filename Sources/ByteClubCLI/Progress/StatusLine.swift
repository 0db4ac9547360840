import ByteClubCore
import Synchronization

/// The status line below all output on a terminal.
///
/// It is redrawn in place, and only when it has changed; the cursor moves only to the line's start and is never hidden.
/// Output through ``above(_:)`` scrolls above it.
final class StatusLine: Sendable {
    private struct State {
        var drawn = ""
        var taskbar = TaskbarProgress.none
        /// The number of clearings by signals when it was written.
        var clearings = 0
    }

    private let output: Output
    private let columns: @Sendable () -> Int?
    private let hasTaskbar: Bool
    private let state = Mutex(State())

    /// A line on a terminal whose width is read by `columns`.
    init(_ output: Output, columns: @escaping @Sendable () -> Int?, _ environment: [String: String]) {
        self.output = output
        self.columns = columns
        hasTaskbar = TaskbarProgress.isKnown(to: environment)
    }

    /// Writes lasting lines, and redraws the status line below them; an empty one removes it.
    ///
    /// - Throws: Errors of the terminal's output.
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

    /// Writes the line if it is empty.
    func showUnlessInUse(_ line: String) throws {
        try state.withLock { state in
            if state.drawn.isEmpty { try output.write(frame(line, below: [], &state.drawn)) }
        }
    }

    /// Removes the line, with the `^C` that a terminal echoes.
    func clear() throws {
        state.withLock { if !$0.drawn.isEmpty { $0.drawn += "  " } }
        try show("")
    }

    /// An output that scrolls above the line.
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
