/// A text as one word of a shell, for commands that people paste.
enum ShellWord {
    /// The text, in quotes when it needs them.
    static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case 48...57, 65...90, 97...122: true
            default: "-._/+,:@%".utf8.contains(byte)
            }
        }
        if isPlain, !text.isEmpty, !text.hasPrefix("-") { return text }
        var quoted = "'"
        for character in text { quoted += character == "'" ? "'\\''" : String(character) }
        return quoted + "'"
    }
}
