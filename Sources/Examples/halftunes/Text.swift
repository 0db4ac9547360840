import ExampleSupport

/// Writes a line to standard error.
func tell(_ line: String) { writeToErrors(line + "\n") }

extension String {
    /// The text without surrounding spaces, and without leading dots, which would hide a file or name a folder.
    var trimmed: String {
        var text = unicodeScalars[...]
        while let first = text.first, first.properties.isWhitespace || first == "." { text.removeFirst() }
        while text.last?.properties.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
