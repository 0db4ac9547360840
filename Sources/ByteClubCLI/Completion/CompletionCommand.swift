import ArgumentParser

/// Does what `byteclub completion SHELL` asks for.
struct CompletionCommand: ClubCommand {
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

    /// The shells for which there are scripts.
    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash, zsh, fish

        /// As the parser calls it.
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
