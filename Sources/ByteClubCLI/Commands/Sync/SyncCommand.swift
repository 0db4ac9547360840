import ArgumentParser

/// What `byteclub sync …` can do: keep a directory the same as the shared folder, and decide about what waits.
struct SyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Keep a directory the same as the shared folder.",
        usage: """
            byteclub sync [<dir>] [<options>]
            byteclub sync pause|resume [<dir>]
            byteclub sync select|deselect <folder> ...
            byteclub sync selection [<dir>]
            byteclub sync deletes review|approve|restore [<dir>]
            byteclub sync revert [<path>] [--dry-run]
            byteclub sync verify [<dir>] [<options>]
            """,
        discussion: """
            Runs until Ctrl-C and prints one line for each change, on a terminal with a line below that tells what goes \
            on; with --once it ends when both sides agree. A directory that does not exist is made. When both sides changed a note, both texts are kept, one as a \
            conflict copy. Files that vanish here go to a trash in the mirror. Unusually many deletions are held \
            until 'byteclub sync deletes approve' or --force-deletes. The file .byteclubignore names what stays here; \
            when another member changes it and it would leave out unusually much, that is held as well.

            Without a line there these files stay here, too: .*.sw? (of vim and nano), *~, #*#, .#*, .*.kate-swp, \
            .goutputstream-*, *.part, *.filepart, *.crdownload, .fuse_hidden*, .nfs0*. A line such as !*~ takes them \
            in. No server takes ~$*, .~*, ~*.tmp, .DS_Store, Thumbs.db, desktop.ini.

            When no directory is named it is the mirror that you are in, else the one that was synced last. A word without \
            a slash names a directory that is there; ./club makes one. No mirror may lie in another one. With --json each line is one JSON object; the last one's event is 'summary'.

            With BYTECLUB_PLAIN=1 in the environment only Core API v1 is spoken. That is for a server, or a proxy before \
            it, that says that it knows ByteClub's quicker protocol and does not carry it.

            With --install the user's own systemd does that from every login on, and starts it now.

            Exit codes of --once: 0 both sides agree, 75 something is held, paused or could not be done yet, 66 the \
            mirror is gone, 77 your role does not allow what is left ('byteclub sync revert' takes it back). Links, pipes and names that no server takes are \
            noted, and are no failure.

            Examples:
              byteclub sync ~/club
              byteclub sync ~/club --once --dry-run
              byteclub sync --once --json
              byteclub sync ~/club --install --limit-up 2M --schedule 'mon-fri 9:00-17:00 limit 200K'
              byteclub sync deletes review
            """,
        subcommands: [
            SyncDirectoryCommand.self, SyncPauseCommand.self, SyncResumeCommand.self, SyncSelectCommand.self,
            SyncDeselectCommand.self, SyncSelectionCommand.self, SyncDeletesCommand.self, SyncRevertCommand.self,
            SyncVerifyCommand.self,
        ],
        defaultSubcommand: SyncDirectoryCommand.self)

    @OptionGroup var options: SyncOptions
    @OptionGroup var outputOptions: OutputOptions
}

/// Whether nothing is changed; one type for `sync` and those of its subcommands that have the flag, since the parser
/// reads a parent's flags first, wherever they stand, and hands on groups by their types.
struct DryRunOption: ParsableArguments {
    @Flag(help: "Only print what would be done.")
    var dryRun = false
}

/// How a directory is kept the same as the shared folder.
struct SyncOptions: ParsableArguments {
    @Flag(help: "End when mirror and server agree.")
    var once = false

    @OptionGroup var dryRunOption: DryRunOption

    @Flag(help: "Carry out deletions that are held because they are many.")
    var forceDeletes = false

    @Flag(help: "Have systemd sync the mirror whenever you are logged in.")
    var install = false

    @Flag(help: "Stop that, and remove the service.")
    var uninstall = false

    @Flag(
        inversion: .prefixedNo,
        help: "Show on the desktop what other members add, change and remove, and conflicts; else BYTECLUB_NOTIFY.")
    var notify: Bool?

    @OptionGroup var pace: PaceOptions
    @OptionGroup var progressOptions: ProgressOptions
    @OptionGroup var connection: ConnectionOptions

    var dryRun: Bool { dryRunOption.dryRun }

    func validate() throws {
        if [once, dryRun, install, uninstall].count(where: \.self) > 1, !(once && dryRun && !install && !uninstall) {
            throw ValidationError("--install and --uninstall go with neither each other nor --once nor --dry-run")
        }
        if install, forceDeletes { throw ValidationError("--force-deletes is for a sync that you look at") }
    }

    /// What the flags set.
    var settings: Settings {
        var settings = pace.added(to: connection.settings)
        settings.notifies = notify
        return settings
    }

    /// The options with which a service syncs as these say.
    var words: [String] {
        var words: [String] = []
        let settings = settings
        let add = { (name: String, value: String?) in if let value { words += [name, value] } }
        add("--server", settings.server)
        add("--folder", settings.folder)
        add("--ca-file", settings.certificateAuthorityFile)
        add("--pin", settings.pin)
        add("--limit-up", settings.uploadLimit)
        add("--limit-down", settings.downloadLimit)
        add("--schedule", settings.schedule)
        if settings.allowsInsecureHTTP == true { words.append("--insecure-http") }
        if let notify { words.append(notify ? "--notify" : "--no-notify") }
        return words
    }
}
