import ArgumentParser

/// What `byteclub sync …` can do: keep a directory the same as the shared folder, and decide about what waits.
struct SyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Keep a directory the same as the shared folder.",
        usage: """
            byteclub sync [<dir>] [<options>]
            byteclub sync deletes review|approve|restore [<dir>]
            """,
        discussion: """
            Runs until Ctrl-C and prints one line for each change; with --once it ends when both sides agree. A \
            directory that does not exist is made. When both sides changed a note, both texts are kept, one as a \
            conflict copy. Files that vanish here go to a trash in the mirror. Unusually many deletions are held \
            until 'byteclub sync deletes approve' or --force-deletes. The file .byteclubignore names what stays here.

            The directory is the one that was synced last when none is named; write ./deletes for one of that name. With \
            --json each line is one JSON object; the last one's event is 'summary'.

            With BYTECLUB_PLAIN=1 in the environment only Core API v1 is spoken. That is for a server, or a proxy before \
            it, that says that it knows ByteClub's quicker protocol and does not carry it.

            Exit codes of --once: 0 both sides agree, 75 something is held or could not be done yet, 66 the mirror \
            is gone.

            Examples:
              byteclub sync ~/club
              byteclub sync ~/club --once --dry-run
              byteclub sync --once --json
              byteclub sync deletes review
            """,
        subcommands: [SyncDirectoryCommand.self, SyncDeletesCommand.self],
        defaultSubcommand: SyncDirectoryCommand.self)

    @OptionGroup var options: SyncOptions
    @OptionGroup var outputOptions: OutputOptions
}

/// How a directory is kept the same as the shared folder.
struct SyncOptions: ParsableArguments {
    @Flag(help: "End when mirror and server agree.")
    var once = false

    @Flag(help: "Only print what would be done.")
    var dryRun = false

    @Flag(help: "Carry out deletions that are held because they are many.")
    var forceDeletes = false

    @OptionGroup var connection: ConnectionOptions
}
