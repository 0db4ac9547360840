/// What a command found or did; text and `--json` are two spellings of it.
protocol CommandResult: Encodable, Sendable {
    /// The lines for people, without a line end after the last; empty for nothing at all.
    func text(_ style: TextStyle) -> String

    /// Whether the text spells out all of others that a terminal would obey (``VisibleText``), so that it may hold
    /// escape sequences of its own.
    var isVisible: Bool { get }
}

extension CommandResult {
    var isVisible: Bool { false }
}

/// What the text of a result may depend on.
struct TextStyle: Sendable {
    /// The local calendar's reading of a number of seconds since 1970.
    var calendar: @Sendable (Int64) -> CalendarTime
    /// The terminal's width; nil when the text goes to a pipe or a file.
    var columns: Int?
    /// Whether the terminal shows some letters bolder than others.
    var isBold = false

    /// A text that stands out, where that can be shown.
    func emphasized(_ text: String) -> String { isBold ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
}

extension Context {
    /// Prints a result as text or as JSON.
    func print(_ result: some CommandResult, json: Bool) throws {
        if json { return try output.write(JSON.bytes(result)) }
        let text = result.text(style)
        if text.isEmpty { return }
        if result.isVisible { try output.visibleLine(text) } else { try output.line(text) }
    }

    /// What the text of a result depends on here.
    var style: TextStyle {
        let isPlain = environment["NO_COLOR"]?.isEmpty == false || environment["TERM"] == "dumb"
        return TextStyle(
            calendar: calendar, columns: terminal.isOutputTerminal ? terminal.columns() ?? 80 : nil,
            isBold: terminal.isOutputTerminal && !isPlain)
    }

    /// Says something that is no result, where a person may have expected one: nothing in a pipe.
    func noteEmpty(_ text: String) {
        if terminal.isOutputTerminal { note(text) }
    }

    /// Says something that is no result.
    func note(_ text: String) {
        // When standard error is gone there is nobody to tell.
        try? diagnostics.line("byteclub: " + Failure.line(text))
    }
}
