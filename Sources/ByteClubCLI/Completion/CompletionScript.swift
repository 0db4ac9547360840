import ArgumentParser

/// The parser's completion scripts, which know nothing of what may follow `byteclub help`.
enum CompletionScript {
    /// A script in which the names of all commands follow `help`; another text as it is.
    static func completed(_ text: String) -> String {
        let names = UnknownCommand.commands(of: RootCommand.self).map(\.name).joined(separator: " ")
        guard let start = text.ranges(of: "_byteclub_help() {").first?.upperBound else {
            let fish = "complete -c 'byteclub' -n '__fish_seen_subcommand_from help' -fa '\(names)'"
            return text.contains("\ncomplete -c 'byteclub' -f\n") ? text + "\n" + fish : text
        }
        let (before, function) = (text[..<start], text[start...])
        let bash = (" -1\n}", " -1\n    COMPREPLY+=($(compgen -W '\(names)' -- \"${cur}\"))\n}")
        let zsh = ("'*:subcommands:'", "'*:subcommands:(\(names))'")
        return before + [bash, zsh].reduce(String(function)) { $0.replacing($1.0, with: $1.1, maxReplacements: 1) }
    }
}
