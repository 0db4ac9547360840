import ArgumentParser

/// An unknown command on the command line, with suggestions.
struct UnknownCommand: Hashable, Sendable {
    /// The word.
    let word: String
    /// The commands before the word, `byteclub` first.
    let parents: [String]
    /// Suggested commands as typed, the likeliest first.
    let suggestions: [String]

    /// Names of commands in other programs.
    private static let synonyms = [
        "ls": "list", "dir": "list", "remove": "rm", "delete": "rm", "del": "rm", "cat": "show", "print": "show",
        "view": "show", "read": "show", "new": "add", "create": "add", "find": "search", "grep": "search",
        "rename": "mv", "move": "mv", "versions": "history", "log": "history", "get": "download", "fetch": "download",
        "pull": "download", "put": "upload", "push": "upload", "send": "upload", "undelete": "restore",
        "recover": "restore", "signin": "login", "signout": "logout", "check": "doctor", "server": "serve",
        "thumb": "thumbnail", "settle": "resolve", "diff": "show", "stop": "pause", "start": "resume",
        "version": "--version", "-v": "--version", "-V": "--version",
    ]

    /// Finds the first unknown command of a command line; nil when there is none.
    init?(in arguments: [String]) {
        var command: any ParsableCommand.Type = RootCommand.self
        var parents = ["byteclub"]
        for word in arguments.first == "help" ? arguments.dropFirst() : arguments[...] {
            let below = Self.commands(of: command)
            if let next = below.first(where: { $0.name == word }) {
                command = next.type
                parents.append(word)
                continue
            }
            let isVersion = parents.count == 1 && Self.synonyms[word] == "--version"
            guard !below.isEmpty, !word.hasPrefix("-") || isVersion, word != "help" else { return nil }
            // After 'sync' such a word is a directory, and the error is another one.
            if parents.count > 1, word.contains("/") { return nil }
            self.word = word
            self.parents = parents
            let prefix = parents.joined(separator: " ") + " "
            var found = Self.near(word, below.map(\.name)).map { prefix + $0 }
            if found.isEmpty, isVersion { found = [prefix + "--version"] }
            if found.isEmpty {
                // A subcommand without its group.
                for group in below {
                    found += Self.near(word, Self.commands(of: group.type).map(\.name), isExact: true)
                        .map { "\(prefix)\(group.name) \($0)" }
                }
            }
            suggestions = Array(found.prefix(3))
            return
        }
        return nil
    }

    /// Checks the subcommand of a command of `byteclub-server`; nil for a known one, for an option, and without one.
    init?(_ word: String?, of command: any HostingCommand.Type) {
        guard let word, let name = command.configuration.commandName, !command.subcommands.isEmpty,
            !word.hasPrefix("-"), word != "help", !command.subcommands.contains(word)
        else { return nil }
        (self.word, parents) = (word, ["byteclub", name])
        suggestions = Self.near(word, command.subcommands).prefix(3).map { "byteclub \(name) \($0)" }
    }

    /// The problem and the suggestions, in one line.
    var message: String {
        let known = suggestions.map { "'\($0)'" }.joined(separator: " or ")
        let path = (parents + [word]).joined(separator: " ")
        let advice =
            known.isEmpty ? "see '\((parents + ["--help"]).joined(separator: " "))'" : "did you mean \(known)?"
        return "unknown command '\(Failure.line(path))'; \(advice)"
    }

    /// The visible subcommands of a command, with their names.
    static func commands(
        of command: any ParsableCommand.Type
    ) -> [(name: String, type: any ParsableCommand.Type)] {
        command.configuration.subcommands.compactMap { type in
            type.configuration.shouldDisplay ? type.configuration.commandName.map { ($0, type) } : nil
        }
    }

    /// Commands similar to a word, the likeliest first.
    private static func near(_ word: String, _ names: [String], isExact: Bool = false) -> [String] {
        let word = word.lowercased()
        if let synonym = synonyms[word], names.contains(synonym) { return [synonym] }
        if isExact { return names.filter { $0 == word } }
        // A short word is soon like any other.
        let most = word.utf8.count < 4 ? 1 : 2
        let measured = names.map { (name: $0, distance: distance(Array(word.utf8.prefix(64)), Array($0.utf8))) }
        let close = measured.filter { $0.distance <= min(most, $0.name.utf8.count - 2) }
        let least = close.map(\.distance).min()
        let best = close.filter { $0.distance == least }.map(\.name)
        return best.isEmpty && word.utf8.count > 1 ? names.filter { $0.hasPrefix(word) } : best
    }

    /// The edit distance of two words: insertions, deletions, replacements and swaps of neighbours.
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, a) in left.enumerated() {
            var line = [row + 1]
            for (column, b) in right.enumerated() {
                var best = min(last[column] + (a == b ? 0 : 1), last[column + 1] + 1, line[column] + 1)
                if row > 0, column > 0, a == right[column - 1], left[row - 1] == b {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                line.append(best)
            }
            (beforeLast, last) = (last, line)
        }
        return last[right.count]
    }
}
