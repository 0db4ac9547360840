package import FoundationEssentials
import Glibc

/// Writes text to standard error as it is; standard output is for results only.
package func writeToErrors(_ text: String) {
    var text = text
    _ = text.withUTF8 { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

/// Prints a result and flushes it, so that a killed program has printed everything it did.
package func show(_ line: String) {
    print(line)
    fflush(nil)
}

/// Prints a result for scripts.
package func show(json value: some Encodable) throws {
    show(String(decoding: try JSONEncoder.readable.encode(value), as: UTF8.self))
}

extension JSONEncoder {
    package static var readable: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

extension String {
    /// The longest prefix of whole characters with at most this many bytes.
    package func prefix(bytes: Int) -> String {
        var rest = self[...]
        while rest.utf8.count > bytes { rest.removeLast() }
        return String(rest)
    }
}

extension String {
    /// The text with a space for each character that would control a terminal or start a new line.
    package var printable: String {
        let scalars = unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: " "
            default: scalar.properties.isBidiControl ? " " : scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// The text padded with spaces to a number of characters.
    package func padded(to count: Int) -> String { self + String(repeating: " ", count: max(count - self.count, 0)) }
}

/// An amount such as `12.3% of 3.4 MB`; only the bytes if the total is unknown.
package func amount(_ bytes: Int64, of total: Int64?) -> String {
    guard let total, total >= 0 else { return size(bytes) }
    // Rounded down: only a complete file has 100.0%.
    let thousandths = total > 0 ? Int(min(Double(bytes) / Double(total), 1) * 1000) : 1000
    return "\(thousandths / 10).\(thousandths % 10)% of \(size(total))"
}

/// A size such as `3.4 MB`.
package func size(_ bytes: Int64) -> String {
    guard bytes >= 1000 else { return "\(bytes) bytes" }
    var (tenths, unit) = (bytes / 100, "kB")
    for larger in ["MB", "GB", "TB"] where tenths >= 10_000 { (tenths, unit) = (tenths / 1000, larger) }
    return "\(tenths / 10).\(tenths % 10) \(unit)"
}
