/// Text of others, so that it can be looked at and does nothing: what a terminal would obey is spelled out.
///
/// Controls but newline and tab are written as `^[`, as `cat -v` does; C1 controls, line and paragraph separators and
/// the characters that turn the order of letters (Unicode UAX #9) as `<U+202E>`, as `less` does; bytes that are no
/// UTF-8 as `<9B>`. A carriage return before a newline stays: no terminal shows anything of it. The marks U+200E,
/// U+200F and U+061C stay as well, since they do nothing that a letter of their script does not do.
///
/// It accepts a text piece by piece and keeps four bytes at most, so that a sequence may be split between two pieces.
public struct VisibleText: Sendable {
    /// Whether anything was spelled out so far.
    public private(set) var hasSpelledOut = false
    /// The beginning of a scalar, or a carriage return: what follows decides.
    private var held: [UInt8] = []

    /// Begins a text.
    public init() {}

    /// What can be shown of the text so far.
    public mutating func take(_ bytes: some Sequence<UInt8>) -> [UInt8] { spelled(held + bytes, isLast: false) }

    /// The rest, when no more text follows.
    public mutating func finish() -> [UInt8] { spelled(held, isLast: true) }

    private mutating func spelled(_ bytes: [UInt8], isLast: Bool) -> [UInt8] {
        held = []
        if bytes.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x0A || $0 == 0x09 }) { return bytes }
        var shown: [UInt8] = []
        shown.reserveCapacity(bytes.count)
        var parser = Unicode.UTF8.ForwardParser()
        var input = bytes.makeIterator()
        var rest = bytes[...]
        while true {
            switch parser.parseScalar(from: &input) {
            case .emptyInput: return shown
            case .valid(let encoded):
                let scalar = Unicode.UTF8.decode(encoded)
                if scalar == "\r", rest.count == 1, !isLast {
                    held = Array(rest)
                    return shown
                }
                rest = rest.dropFirst(encoded.count)
                if Self.isObeyed(scalar), scalar != "\r" || rest.first != 0x0A {
                    shown += Self.spelling(scalar).utf8
                    hasSpelledOut = true
                } else {
                    shown += encoded
                }
            case .error(let length):
                if length == rest.count, !isLast {
                    held = Array(rest)
                    return shown
                }
                for byte in rest.prefix(length) { shown += "<\(Self.hexadecimal(UInt32(byte), digits: 2))>".utf8 }
                hasSpelledOut = true
                rest = rest.dropFirst(length)
            }
        }
    }

    /// What can be shown of a whole text.
    public static func whole(_ text: some Sequence<UInt8>) -> [UInt8] {
        var visible = VisibleText()
        return visible.take(text) + visible.finish()
    }

    /// A text on one line: newlines and tabs are blanks, and what a terminal would obey is spelled out.
    public static func line(_ text: String) -> String {
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == "\n" || scalar == "\t" {
                line.append(" ")
            } else if isObeyed(scalar) {
                line.append(contentsOf: spelling(scalar).unicodeScalars)
            } else {
                line.append(scalar)
            }
        }
        return String(line)
    }

    /// An equivalent JSON text without characters that a terminal would obey: they are escaped.
    public static func json(_ text: [UInt8]) -> [UInt8] {
        if text.allSatisfy({ $0 < 0x7F }) { return text }
        var escaped = String.UnicodeScalarView()
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            // Below DEL are only the blanks and newlines between the values.
            if scalar.value >= 0x7F, isObeyed(scalar) {
                escaped.append(contentsOf: "\\u\(hexadecimal(scalar.value, digits: 4).lowercased())".unicodeScalars)
            } else {
                escaped.append(scalar)
            }
        }
        return Array(String(escaped).utf8)
    }

    /// Whether a terminal would do something for a character, or write what follows in another order or on another
    /// line.
    private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0..<0x20, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private static func spelling(_ scalar: Unicode.Scalar) -> String {
        // The caret notation turns one bit over: ^[ for ESC, ^? for DEL.
        if scalar.value < 0x80 { return "^\(Unicode.Scalar(UInt8(scalar.value) ^ 0x40))" }
        return "<U+\(hexadecimal(scalar.value, digits: 4))>"
    }

    private static func hexadecimal(_ value: UInt32, digits: Int) -> String {
        String(value, radix: 16, uppercase: true).padded(to: digits)
    }
}

/// A text as one word of a shell, for commands that people paste.
public enum ShellWord {
    /// The text, in quotes when it needs them: a shell makes the very bytes of it again.
    public static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case 48...57, 65...90, 97...122: true
            default: "-._/+,:@%".utf8.contains(byte)
            }
        }
        if isPlain, text.utf8.first.map({ $0 != UInt8(ascii: "-") }) == true { return text }
        // Scalar by scalar: an apostrophe with an accent on it is another character, but a shell sees the apostrophe.
        var quoted = "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" { quoted += "'\\''" } else { quoted.unicodeScalars.append(scalar) }
        }
        return quoted + "'"
    }

    /// A command line in a sentence, to be pasted: in quotes, unless its last words need some themselves.
    ///
    /// - Parameters:
    ///   - start: The words before the name, plain ones.
    ///   - name: Anything.
    ///   - end: The words behind it, plain ones; empty for none.
    /// - Returns: The line, without quotes within quotes.
    public static func command(_ start: String, _ name: String, _ end: String = "") -> String {
        let word = quoted(name)
        let line = "\(start) \(word)" + (end.isEmpty ? "" : " " + end)
        return word == name ? "'\(line)'" : line
    }
}
