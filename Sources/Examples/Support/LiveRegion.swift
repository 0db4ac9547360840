/// The last lines of a terminal, which are redrawn in place; returns the text to write.
package struct LiveRegion: Sendable {
    private var count = 0

    package init() {}

    /// Draws rows in place of those before.
    ///
    /// - Parameter rows: Fewer than the terminal has; wider ones are cut off at the terminal's edge.
    /// - Returns: The text to write.
    package mutating func draw(_ rows: [String]) -> String {
        let text = beginning + "\u{1B}[?25l\u{1B}[?7l" + rows.map { $0 + "\u{1B}[K" }.joined(separator: "\n")
        count = rows.count
        return text + "\u{1B}[J\u{1B}[?7h"
    }

    /// Writes lines that stay, above the rows.
    ///
    /// - Parameters:
    ///   - lines: Text that ends with a newline.
    ///   - rows: The rows to draw below it.
    /// - Returns: The text to write.
    package mutating func write(_ lines: String, above rows: [String]) -> String {
        let text = beginning + "\u{1B}[J" + lines
        count = 0
        return text + draw(rows)
    }

    /// Leaves the rows as they are, with the cursor below them.
    package mutating func end() -> String {
        defer { count = 0 }
        return count > 0 ? "\n\u{1B}[?25h" : ""
    }

    /// Removes the rows.
    package mutating func clear() -> String {
        defer { count = 0 }
        return count > 0 ? beginning + "\u{1B}[J\u{1B}[?25h" : ""
    }

    /// Moves to the start of the first row.
    private var beginning: String { count > 1 ? "\r\u{1B}[\(count - 1)A" : "\r" }
}
