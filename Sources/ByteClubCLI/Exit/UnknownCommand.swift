import ArgumentParser

/// A word on the command line where a command should be that is none, and what may have been meant.
struct UnknownCommand: Hashable, Sendable {
    /// The word.
    let word: String
    /// The commands before it, `byteclub` first.
    let parents: [String]
    /// What may have been meant, as it would be typed; the likeliest first.
    let suggestions: [String]

    /// Words for what is called otherwise here.
    private static let synonyms = [
        "ls": "list", "dir": "list", "remove": "rm", "delete": "rm", "del": "rm", "cat": "show", "print": "show",
        "view": "show", "read": "show", "new": "add", "create": "add", "find": "search", "grep": "search",
        "rename": "mv", "move": "mv", "versions": "history", "log": "history", "get": "download", "fetch": "download",
        "pull": "download", "put": "upload", "push": "upload", "send": "upload", "undelete": "restore",
        "recover": "restore", "signin": "login", "signout": "logout", "check": "doctor", "server": "serve",
        "thumb": "thumbnail", "settle": "resolve", "diff": "show", "stop": "pause", "start": "resume",
        "version": "--version", "-v": "--version", "-V": "--version",
    ]

    /// Looks along a command line for the first such word; nil when there is none.
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
            // Behind 'sync' it is a directory, and something else is wrong.
            if parents.count > 1, word.contains("/") { return nil }
            self.word = word
            self.parents = parents
            let prefix = parents.joined(separator: " ") + " "
            var found = Self.near(word, below.map(\.name)).map { prefix + $0 }
            if found.isEmpty, isVersion { found = [prefix + "--version"] }
            if found.isEmpty {
                // The command of a group that was not named.
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

    /// What is wrong and what may have been meant, in one line.
    var message: String {
        let known = suggestions.map { "'\($0)'" }.joined(separator: " or ")
        let path = (parents + [word]).joined(separator: " ")
        let advice =
            known.isEmpty ? "see '\((parents + ["--help"]).joined(separator: " "))'" : "did you mean \(known)?"
        return "unknown command '\(Failure.line(path))'; \(advice)"
    }

    /// The commands that people may type behind another one, with their names.
    static func commands(
        of command: any ParsableCommand.Type
    ) -> [(name: String, type: any ParsableCommand.Type)] {
        command.configuration.subcommands.compactMap { type in
            type.configuration.shouldDisplay ? type.configuration.commandName.map { ($0, type) } : nil
        }
    }

    /// The names that a word may stand for, the likeliest first.
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

    /// How many letters must be put in, taken out, replaced or swapped with the next to make one word of the other.
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
