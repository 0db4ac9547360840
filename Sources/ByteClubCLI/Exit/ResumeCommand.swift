import ByteClubCore

/// The command line that goes on with what was interrupted, to be pasted into a shell.
enum ResumeCommand {
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
            // Names stand at the end as a rule; what an option takes may be the same word.
            for name in names.given.reversed() {
                if let index = words.lastIndex(of: name) { words.remove(at: index) }
            }
            words += names.left
        }
        return (["byteclub"] + words.filter { $0 != SyncDirectoryCommand.name }).map(shown).joined(separator: " ")
    }
    /// A word as a shell reads it; one that is an option needs no more quotes than another.
    private static func shown(_ word: String) -> String {
        ShellWord.quoted("x" + word) == "x" + word ? word : ShellWord.quoted(word)
    }
}
