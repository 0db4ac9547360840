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
