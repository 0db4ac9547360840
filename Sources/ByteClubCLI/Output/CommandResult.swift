/// What a command found or did; text and `--json` are two spellings of it.
protocol CommandResult: Encodable, Sendable {
    /// The lines for people, without a line end after the last; empty for nothing at all.
    func text(_ style: TextStyle) -> String
}

/// What the text of a result may depend on.
struct TextStyle: Sendable {
    /// The local calendar's reading of a number of seconds since 1970.
    var calendar: @Sendable (Int64) -> CalendarTime
}

extension Context {
    /// Prints a result as text or as JSON.
    func print(_ result: some CommandResult, json: Bool) throws {
        if json { return try output.write(JSON.bytes(result)) }
        let text = result.text(TextStyle(calendar: calendar))
        if !text.isEmpty { try output.line(text) }
    }

    /// Says something that is no result.
    func note(_ text: String) {
        // When standard error is gone there is nobody to tell.
        try? diagnostics.line("byteclub: " + Failure.line(text))
    }
}
