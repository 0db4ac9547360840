import ExampleSupport

/// Writes a line to standard error.
func tell(_ line: String) { writeToErrors(line + "\n") }

/// An amount such as `12.3% of 3.4 MB`; only the bytes if the total is unknown.
func amount(_ bytes: Int64, of total: Int64?) -> String {
    guard let total, total >= 0 else { return size(bytes) }
    // Rounded down: only a complete file has 100.0%.
    let thousandths = total > 0 ? Int(min(Double(bytes) / Double(total), 1) * 1000) : 1000
    return "\(thousandths / 10).\(thousandths % 10)% of \(size(total))"
}

/// A size such as `3.4 MB`.
func size(_ bytes: Int64) -> String {
    guard bytes >= 1000 else { return "\(bytes) bytes" }
    var (tenths, unit) = (bytes / 100, "kB")
    for larger in ["MB", "GB", "TB"] where tenths >= 10_000 { (tenths, unit) = (tenths / 1000, larger) }
    return "\(tenths / 10).\(tenths % 10) \(unit)"
}

extension String {
    /// The text with a space for each character that would control a terminal or start a new line.
    var printable: String {
        let scalars = unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: " "
            default: scalar.properties.isBidiControl ? " " : scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// The text padded with spaces to a number of characters.
    func padded(to count: Int) -> String { self + String(repeating: " ", count: max(count - self.count, 0)) }

    /// The text without surrounding spaces, and without leading dots, which would hide a file or name a folder.
    var trimmed: String {
        var text = unicodeScalars[...]
        while let first = text.first, first.properties.isWhitespace || first == "." { text.removeFirst() }
        while text.last?.properties.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
