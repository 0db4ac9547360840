import ByteClubCore
import FoundationEssentials

/// The result of a command, as text and with `--json`.
protocol CommandResult: Encodable, Sendable {
    /// The lines for people, without a final newline; empty to print nothing.
    func text(_ style: TextStyle) -> String

    /// Whether the text escapes control characters in names and texts itself (``VisibleText``), so that it may contain
    /// escape sequences of its own.
    var isVisible: Bool { get }
}

extension CommandResult {
    var isVisible: Bool { false }
}

/// The medium that the text of a result is written for.
struct TextStyle: Sendable {
    /// Converts seconds since 1970 to local time.
    var calendar: @Sendable (Int64) -> CalendarTime
    /// The terminal's width; nil for a pipe or file.
    var columns: Int?
    /// Whether the terminal supports bold text and colours.
    var isBold = false

    /// A text in bold, if the terminal supports it.
    func emphasized(_ text: String) -> String { isBold ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

    /// The state of something.
    enum State: Sendable {
        case good, warning, bad

        /// The state without colour, and the SGR code (ECMA-48) of its colour in the terminal's palette.
        fileprivate var sign: (mark: String, color: Int) {
            switch self {
            case .good: ("✓", 32)
            case .warning: ("!", 33)
            case .bad: ("✗", 31)
            }
        }
    }

    /// A text that names a state, with a mark on a terminal.
    func marked(_ state: State, _ text: String) -> String { columns == nil ? text : "\(state.sign.mark) \(text)" }

    /// The same in the state's colour, if the terminal supports it.
    func state(_ state: State, _ text: String) -> String {
        let text = marked(state, text)
        return isBold ? "\u{1B}[\(state.sign.color)m\(text)\u{1B}[0m" : text
    }

    /// A wrapped line whose beginning up to a colon is in a state's colour.
    func line(_ text: String, _ state: State?) -> String {
        let text = Failure.line(text)
        guard let state else { return wrapped(text) }
        let head = text.firstIndex(of: ":") ?? text.endIndex
        return wrapped(self.state(state, String(text[..<head])) + text[head...])
    }

    /// A URL as a hyperlink where terminals support OSC 8; readable in all.
    func link(_ url: String) -> String {
        guard isBold, url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return Failure.line(url) }
        return "\u{1B}]8;;\(url)\u{1B}\\\(url)\u{1B}]8;;\u{1B}\\"
    }

    /// A size: rounded for people, exact for programs.
    func size(_ bytes: Int64) -> String { columns == nil ? String(bytes) : HumanSize.shown(bytes) }

    /// A date: local for people, RFC 3339 in UTC for programs.
    func date(_ date: APIDate?) -> String { time(date?.seconds) }

    /// A date in seconds since 1970.
    func time(_ seconds: Int64?) -> String {
        guard let seconds else { return "" }
        return columns == nil ? CalendarTime.utc(seconds).rfc3339 : calendar(seconds).description
    }

    /// A time in seconds since 1970, with seconds.
    func moment(_ seconds: Int64) -> String {
        columns == nil ? CalendarTime.utc(seconds).rfc3339 : calendar(seconds).exact
    }

    /// A member's name, shortened on a terminal so that the rest of the line fits.
    func member(_ name: String?) -> String {
        guard let name else { return "" }
        return columns == nil ? name : DisplayWidth.shortened(Failure.line(name), to: 24)
    }

    /// A table with a row for each item; the result is ``CommandResult/isVisible``.
    func list(_ table: TextTable) -> String { table.list(in: columns, isBold: isBold) }

    /// A table of facts about one thing.
    func facts(_ table: TextTable) -> String { table.facts(in: columns) }

    /// A line that fits the terminal.
    func wrapped(_ line: String) -> String { columns.map { LineWrap.wrapped(line, to: $0) } ?? line }

    /// Lines that fit the terminal, with control characters escaped.
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

    /// The style for this context's output.
    var style: TextStyle {
        let isPlain = environment["NO_COLOR"]?.isEmpty == false || environment["TERM"] == "dumb"
        return TextStyle(
            calendar: calendar, columns: terminal.isOutputTerminal ? terminal.columns() ?? 80 : nil,
            isBold: terminal.isOutputTerminal && !isPlain)
    }

    /// Prints a note in place of an empty result; nothing in a pipe.
    func noteEmpty(_ text: String) {
        if terminal.isOutputTerminal { note(text) }
    }

    /// Prints a note on standard error.
    func note(_ text: String) {
        // Without standard error the note is lost.
        try? diagnostics.line("byteclub: " + Failure.line(text))
    }
}

/// Results as JSON: sorted keys, unescaped slashes, so that equal results are equal texts.
///
/// Control characters of terminals are escaped.
enum JSON {
    /// A value on several lines, for files and results.
    static func bytes(_ value: some Encodable) throws -> [UInt8] {
        try encoded(value, [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    }

    /// A value on one line, for streams of events.
    static func line(_ value: some Encodable) throws -> [UInt8] {
        try encoded(value, [.sortedKeys, .withoutEscapingSlashes])
    }

    private static func encoded(_ value: some Encodable, _ formatting: JSONEncoder.OutputFormatting) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        return try VisibleText.json(Array(encoder.encode(value))) + [0x0A]
    }
}
