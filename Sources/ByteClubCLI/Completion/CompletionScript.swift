import ArgumentParser

/// The parser's completion scripts with additions.
enum CompletionScript {
    /// Whether a script is being generated, which includes options that help hides.
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

    /// A replacement in a script: `old`, found after `after`, becomes `new`.
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

    /// Words after `help`; directories after `sync`; and no space after a folder, so that typing continues below it.
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

/// The command `byteclub completion SHELL`.
struct CompletionCommand: LocalCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: "Print the script that completes commands in a shell.",
        discussion: """
            Packages install the scripts already. Otherwise add to your shell's startup file:

            bash, ~/.bashrc:                    source <(byteclub completion bash)
            zsh, ~/.zshrc, after compinit:      source <(byteclub completion zsh)
            fish, ~/.config/fish/config.fish:   byteclub completion fish | source
            """)

    @Argument(help: "The shell.")
    var shell: Shell

    /// The supported shells.
    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash, zsh, fish

        /// The parser's value.
        var known: CompletionShell {
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        }
    }

    func run(in context: Context) async throws {
        try context.output.line(CompletionScript.script(for: shell))
    }
}
