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
