import Glibc

/// Writes a line to standard error.
func tell(_ line: String) { write(line + "\n", to: STDERR_FILENO) }

/// Writes text at once.
func write(_ text: String, to descriptor: Int32) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        if count <= 0 { return }
        rest = rest.dropFirst(count)
    }
}

extension String {
    /// With a blank for each character that would do something to a terminal, or make lines of one.
    var printable: String {
        var text = ""
        for scalar in unicodeScalars {
            let isOrder =
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator: true
                default: scalar.properties.isBidiControl
                }
            text.unicodeScalars.append(isOrder ? " " : scalar)
        }
        return text
    }

    /// Filled with blanks up to so many characters.
    func padded(to count: Int) -> String { self + String(repeating: " ", count: max(count - self.count, 0)) }
}
