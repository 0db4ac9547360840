import ByteClubCore

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

    /// How something stands.
    enum State: Sendable {
        case good, warning, bad

        /// Says the same as the colour.
        var mark: String {
            switch self {
            case .good: "✓"
            case .warning: "!"
            case .bad: "✗"
            }
        }

        /// Green, yellow and red of the terminal's own palette (ECMA-48, SGR).
        fileprivate var color: Int {
            switch self {
            case .good: 32
            case .warning: 33
            case .bad: 31
            }
        }
    }

    /// A text that says how something stands, with the mark for it on a terminal.
    func marked(_ state: State, _ text: String) -> String { columns == nil ? text : "\(state.mark) \(text)" }

    /// The same in the state's colour, where that can be shown.
    func state(_ state: State, _ text: String) -> String {
        let text = marked(state, text)
        return isBold ? "\u{1B}[\(state.color)m\(text)\u{1B}[0m" : text
    }

    /// A line, wrapped, of which the beginning up to a colon says how something stands.
    func line(_ text: String, _ state: State?) -> String {
        let text = Failure.line(text)
        guard let state else { return wrapped(text) }
        let head = text.firstIndex(of: ":") ?? text.endIndex
        return wrapped(self.state(state, String(text[..<head])) + text[head...])
    }

    /// An address that people can follow in terminals that know how (OSC 8); it can be read in all.
    func link(_ url: String) -> String {
        guard isBold, url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return Failure.line(url) }
        return "\u{1B}]8;;\(url)\u{1B}\\\(url)\u{1B}]8;;\u{1B}\\"
    }

    /// A number of bytes: rounded for people, exact for programs.
    func size(_ bytes: Int64) -> String { columns == nil ? String(bytes) : HumanSize.shown(bytes) }

    /// A date: the local clock's for people, RFC 3339 in UTC for programs.
    func date(_ date: APIDate?) -> String { time(date?.seconds) }

    /// A date in seconds since 1970.
    func time(_ seconds: Int64?) -> String {
        guard let seconds else { return "" }
        return columns == nil ? CalendarTime.utc(seconds).rfc3339 : calendar(seconds).description
    }

    /// A date in seconds since 1970, to the second.
    func moment(_ seconds: Int64) -> String {
        columns == nil ? CalendarTime.utc(seconds).rfc3339 : calendar(seconds).exact
    }

    /// A member's name: at most so much of it on a terminal that the rest of the line has room.
    func member(_ name: String?) -> String {
        guard let name else { return "" }
        return columns == nil ? name : DisplayWidth.shortened(Failure.line(name), to: 24)
    }

    /// A table of which each row is a thing of its own; its result is ``CommandResult/isVisible``.
    func list(_ table: TextTable) -> String { table.list(in: columns, isBold: isBold) }

    /// A table of what is known of one thing.
    func facts(_ table: TextTable) -> String { table.facts(in: columns) }

    /// A line that fits the terminal.
    func wrapped(_ line: String) -> String { columns.map { LineWrap.wrapped(line, to: $0) } ?? line }

    /// Lines that fit the terminal and in which nothing drives it.
    func lines(_ lines: [String]) -> String { lines.map { wrapped(Failure.line($0)) }.joined(separator: "\n") }
}

extension Context {
    /// Prints a result as text or as JSON.
    func print(_ result: some CommandResult, json: Bool) throws {
        if json { return try output.write(JSON.bytes(result)) }
        let text = result.text(style)
        if text.isEmpty { return }
        try showing { if result.isVisible { try output.visibleLine(text) } else { try output.line(text) } }
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
