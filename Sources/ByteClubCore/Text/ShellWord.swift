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
}
