import ExampleSupport

extension String {
    /// The text in one line, without control characters.
    var printable: String {
        let scalars = unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }
        return String(String.UnicodeScalarView(scalars)).split(separator: " ").joined(separator: " ")
    }

    /// The text as a safe file name: at most 150 bytes, not hidden, without separators of folders.
    var fileName: String {
        // The slash is replaced as a scalar: with an accent it would be another character, but not for the system.
        let safe = printable.unicodeScalars.drop { $0 == "." }
            .map { "/\\:*?\"<>|".unicodeScalars.contains($0) ? "-" : $0 }
        let name = String(String.UnicodeScalarView(safe)).prefix(bytes: 150)
        return name.isEmpty ? "episode" : name
    }
}

/// A size such as `12.3 MB`.
func size(_ bytes: Int64) -> String {
    guard bytes >= 1_000 else { return "\(bytes) bytes" }
    let (unit, name) = bytes < 1_000_000 ? (1e3, "kB") : bytes < 1_000_000_000 ? (1e6, "MB") : (1e9, "GB")
    return "\((Double(bytes) / unit * 10).rounded() / 10) \(name)"
}

/// Prints a message to standard error.
func tell(_ line: String) { writeToErrors(line.printable + "\n") }
