import ArgumentParser

/// Whether and how progress is shown.
enum ProgressMode: String, Sendable, CaseIterable, ExpressibleByArgument {
    /// One line drawn again on a terminal, now and then a line elsewhere.
    case auto
    /// The same, also where it would not be shown: with `--json`.
    case always
    /// Nothing.
    case never
    /// One JSON object a line, whatever is at the other end.
    case json

    /// How progress is written.
    enum Display: Hashable, Sendable {
        /// One line, drawn again and again.
        case live
        /// Lines of a log.
        case log
        /// Lines that are each a ``ProgressEvent``.
        case events
        /// Nothing.
        case none
    }

    /// How progress is written on this terminal; no way of writing it uses an escape sequence, but for those that some
    /// terminals are known to take for a ``TaskbarProgress``.
    func display(terminal: Terminal, environment: [String: String], json: Bool) -> Display {
        if self == .json { return .events }
        if self == .never || (json && self != .always) { return .none }
        let isDumb = environment["TERM"] == "dumb"
        return terminal.isErrorTerminal && !isDumb ? .live : .log
    }
}
