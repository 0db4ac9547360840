/// Lines on a terminal that are drawn over themselves, and stay there in the end.
struct LiveTable {
    private var drawn: [Substring] = []

    /// Draws a text in which nothing of others drives the terminal, over what was drawn before.
    mutating func show(_ text: String, on output: Output) throws {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines == drawn { return }
        // Up to the first line, each line to its end, and what is below away (ECMA-48: CUU, EL, ED).
        let frame =
            (drawn.isEmpty ? "" : "\r\u{1B}[\(drawn.count)A") + lines.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J"
        drawn = lines
        try output.writeVisible(Array(frame.utf8))
    }
}
