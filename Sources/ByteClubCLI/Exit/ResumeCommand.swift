import ByteClubCore

/// The command line that goes on with what was interrupted, to be pasted into a shell.
enum ResumeCommand {
    /// The options of commands with names that take no value.
    static let flags: Set<String> = ["--force", "--json", "--insecure-http", "--background", "--flat"]

    /// The line that goes on with a command line.
    ///
    /// - Parameters:
    ///   - arguments: The command line without the program's name.
    ///   - names: The names on it that are done in part, and what is left to do of them; nil when all of them are to be
    ///     given again.
    /// - Returns: The line, quoted where a shell needs it.
    static func text(_ arguments: [String], names: (given: [String], left: [String])? = nil) -> String {
        var words = arguments
        if let names {
            // A subcommand may be called like a name, which then stands behind it.
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

    /// Whether a word is the value of the option before it.
    private static func isValue(_ index: Int, _ words: [String]) -> Bool {
        guard index > 0 else { return false }
        let before = words[index - 1]
        return before.hasPrefix("-") && !before.contains("=") && !flags.contains(before)
            && !words[..<index].contains("--")
    }

    /// A word as a shell reads it; one that is an option needs no more quotes than another.
    private static func shown(_ word: String) -> String {
        !word.isEmpty && ShellWord.quoted("x" + word) == "x" + word ? word : ShellWord.quoted(word)
    }
}
