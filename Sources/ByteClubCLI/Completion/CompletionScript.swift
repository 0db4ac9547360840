import ArgumentParser

/// The parser's completion scripts, with what the parser does not know.
enum CompletionScript {
    /// Whether a script is being made, which has the options that helps leave out.
    @TaskLocal static var isBeingMade = false

    /// The script for a shell.
    static func script(for shell: CompletionCommand.Shell) -> String {
        let plain = $isBeingMade.withValue(true) { RootCommand.completionScript(for: shell.known) }
        let names = UnknownCommand.commands(of: RootCommand.self).map(\.name).joined(separator: " ")
        return switch shell {
        case .bash: replacing(bash(names), in: plain)
        case .zsh: replacing(zsh(names), in: plain)
        case .fish: plain + "\n" + fish(names)
        }
    }

    /// A piece of a script, looked for behind some text, and what stands there instead.
    private typealias Piece = (after: String, old: String, new: String)

    private static func replacing(_ pieces: [Piece], in script: String) -> String {
        var script = script
        for piece in pieces {
            guard let start = script.ranges(of: piece.after).first?.upperBound,
                let range = script[start...].ranges(of: piece.old).first
            else { continue }
            script.replaceSubrange(range, with: piece.new)
        }
        return script
    }

    /// What follows `help`; directories behind `sync`; and no blank behind a folder, below which one goes on.
    private static func bash(_ names: String) -> [Piece] {
        [
            (
                "\n_byteclub_help() {", " -1\n}",
                " -1\n    COMPREPLY+=($(compgen -W '\(names)' -- \"${cur}\"))\n}"
            ),
            (
                "\n_byteclub_sync() {", "# Offer subcommand completions\n",
                "# Offer subcommand completions\n        __byteclub_add_completions -d\n"
            ),
            (
                "\n__byteclub_add_completions() {", "\n}",
                """

                    if [[ "${#COMPREPLY[@]}" -eq 1 && "${COMPREPLY[0]}" = */ ]]; then
                        compopt -o nospace 2>/dev/null
                    fi
                }
                """
            ),
        ]
    }

    private static func zsh(_ names: String) -> [Piece] {
        [
            ("\n_byteclub_help() {", "'*:subcommands:'", "'*:subcommands:(\(names))'"),
            (
                "\n_byteclub_sync() {", "_describe -V subcommand subcommands && ret=0",
                "_describe -V subcommand subcommands && ret=0\n        _files -/ && ret=0"
            ),
            (
                "\n__byteclub_custom_complete() {", "__byteclub_complete \"${completions[@]:0:-1}\"",
                """
                completions=("${completions[@]:0:-1}")
                        local -a folders=("${(M)completions[@]:#*/}")
                        completions=("${completions[@]:#*/}")
                        [[ "${#completions[@]}" -gt 0 ]] && __byteclub_complete "${completions[@]}"
                        [[ "${#folders[@]}" -gt 0 ]] && _describe -V '' folders -S ''
                """
            ),
        ]
    }

    private static func fish(_ names: String) -> String {
        """
        complete -c 'byteclub' -n '__fish_seen_subcommand_from help' -fa '\(names)'
        complete -c 'byteclub' -n '__byteclub_should_offer_completions_for_positional "byteclub sync" -eq 1' \
        -fa '(__byteclub_complete_directories)'
        """
    }
}
