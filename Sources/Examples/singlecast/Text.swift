import FoundationEssentials
import Glibc

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

    /// The longest prefix of whole characters with at most this many bytes.
    func prefix(bytes: Int) -> String {
        var rest = self[...]
        while rest.utf8.count > bytes { rest.removeLast() }
        return String(rest)
    }
}

/// A size such as `12.3 MB`.
func size(_ bytes: Int64) -> String {
    guard bytes >= 1_000 else { return "\(bytes) bytes" }
    let (unit, name) = bytes < 1_000_000 ? (1e3, "kB") : bytes < 1_000_000_000 ? (1e6, "MB") : (1e9, "GB")
    return "\((Double(bytes) / unit * 10).rounded() / 10) \(name)"
}

/// Prints a message to standard error; standard output is for results only.
func tell(_ line: String) { writeToErrors(line.printable + "\n") }

/// Prints text to standard error as it is.
func writeToErrors(_ text: String) {
    var text = text
    _ = text.withUTF8 { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

/// Prints a result and flushes it, so that a killed program has printed everything it did.
func show(_ line: String) {
    print(line)
    fflush(nil)
}

/// Prints a result for scripts.
func show(json value: some Encodable) throws {
    show(String(decoding: try JSONEncoder.readable.encode(value), as: UTF8.self))
}

extension JSONEncoder {
    static var readable: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
