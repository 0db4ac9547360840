import ByteClubCore

/// A command line that resumes an interrupted command, to be pasted into a shell.
enum ResumeCommand {
    /// Options without a value, of the commands whose arguments are names.
    static let flags: Set<String> = [
        "--force", "--json", "--insecure-http", "--background", "--flat", "--no-unmetered-only",
    ]

    /// The line that resumes a command, quoted for a shell; without the names on it that are done, if `names` has them.
    static func text(_ arguments: [String], names: (given: [String], left: [String])? = nil) -> String {
        var words = arguments
        if let names {
            // A subcommand can have the same name as a file; the file's name is the later word.
            for name in names.given.reversed() {
                if let index = words.indices.last(where: { words[$0] == name && !isValue($0, words) }) {
                    words.remove(at: index)
                }
            }
            if names.left.contains(where: { $0.hasPrefix("-") }), !words.contains("--") { words.append("--") }
            words += names.left
        }
        return (["byteclub"] + words.filter { $0 != SyncDirectoryCommand.name }).map(shown).joined(separator: " ")
    }

    /// Whether a word is the value of the previous option.
    private static func isValue(_ index: Int, _ words: [String]) -> Bool {
        guard index > 0 else { return false }
        let before = words[index - 1]
        return before.hasPrefix("-") && !before.contains("=") && !flags.contains(before)
            && !words[..<index].contains("--")
    }

    /// A word quoted for a shell.
    private static func shown(_ word: String) -> String {
        !word.isEmpty && ShellWord.quoted("x" + word) == "x" + word ? word : ShellWord.quoted(word)
    }
}
