import ExampleSupport

extension String {
    /// The text in one line, without control characters.
    var inOneLine: String {
        let scalars = unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }
        return String(String.UnicodeScalarView(scalars)).split(separator: " ").joined(separator: " ")
    }

    /// The text as a safe file name: at most 150 bytes, not hidden, without separators of folders.
    var fileName: String {
        // The slash is replaced as a scalar: with an accent it would be another character, but not for the system.
        let safe = inOneLine.unicodeScalars.drop { $0 == "." }
            .map { "/\\:*?\"<>|".unicodeScalars.contains($0) ? "-" : $0 }
        let name = String(String.UnicodeScalarView(safe)).prefix(bytes: 150)
        return name.isEmpty ? "episode" : name
    }
}

/// Prints a message to standard error.
func tell(_ line: String) { writeToErrors(line.inOneLine + "\n") }
