import ArgumentParser

/// Whether and how progress is shown.
enum ProgressMode: String, Sendable, CaseIterable, ExpressibleByArgument {
    /// One line drawn again on a terminal, now and then a line elsewhere.
    case auto
    /// The same, also where it would not be shown: in JSON mode.
    case always
    /// Nothing.
    case never

    /// How progress is written.
    enum Display: Hashable, Sendable {
        /// One line, drawn again and again.
        case live
        /// Lines of a log.
        case log
        /// Nothing.
        case none
    }

    /// How progress is written on this terminal; no way of writing it uses an escape sequence.
    func display(terminal: Terminal, environment: [String: String], json: Bool) -> Display {
        if self == .never || (json && self != .always) { return .none }
        let isDumb = environment["TERM"] == "dumb"
        return terminal.isErrorTerminal && !isDumb ? .live : .log
    }
}
