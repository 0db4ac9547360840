import ArgumentParser

/// The command `byteclub sync …`: keeps a directory in sync with the shared folder, and decides about held work.
struct SyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Sync a directory with the shared folder.",
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
            Runs until Ctrl-C and prints a line for each change, on a terminal with a status line below; with --once \
            it ends when both sides agree. Creates the directory if it is missing. When both sides changed a note, \
            both texts are kept, one as a conflict copy. Files removed here go to the mirror's trash. An unusually \
            large number of deletions is held until 'byteclub sync deletes approve' or --force-deletes. Patterns in \
            the file .byteclubignore exclude files from syncing; a change to it by another member that would exclude \
            unusually many is held as well.

            These temporary files are never uploaded by default: .*.sw? (of vim and nano), *~, #*#, .#*, .*.kate-swp, \
            .goutputstream-*, *.part, *.filepart, *.crdownload, .fuse_hidden*, .nfs0*. A line such as !*~ in \
            .byteclubignore includes them. Servers never accept ~$*, .~*, ~*.tmp, .DS_Store, Thumbs.db, desktop.ini.

            The default directory is the mirror that you are in, else the one synced last. A name without a slash \
            must be an existing directory; ./club creates one. Mirrors cannot be nested. With --json each line is one \
            JSON object; the last one's event is 'summary'.

            With BYTECLUB_PLAIN=1 in the environment, only Core API v1 is used: for a server or proxy that announces \
            ByteClub's faster protocol but does not support it.

            With --unmetered-only, or 'metered = wait' in the settings, a sync pauses while the network is metered, as \
            NetworkManager sees it; then --once and --dry-run do nothing. Changes made meanwhile are found when it \
            resumes, at once with the next unmetered network.

            With --install your user systemd starts the sync now and at each login.

            Exit codes of --once: 0 both sides agree, 75 something is held, paused or not done yet, also because the \
            network is metered, 66 the mirror is gone, 77 your role does not allow the remaining changes ('byteclub \
            sync revert' reverts them). Links, pipes and names that no server accepts are noted and are not failures.

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

/// The option `--dry-run`; one type for `sync` and its subcommands, since the parser reads a parent's flags first,
/// wherever they are, and passes groups on by type.
struct DryRunOption: ParsableArguments {
    @Flag(help: "Print what would be done, and change nothing.")
    var dryRun = false
}

/// Options of a sync.
struct SyncOptions: ParsableArguments {
    @Flag(help: "Exit once mirror and server agree.")
    var once = false

    @OptionGroup var dryRunOption: DryRunOption

    @Flag(help: "Carry out deletions that are held for their number.")
    var forceDeletes = false

    @Flag(help: "Install a systemd service that syncs the mirror while you are logged in.")
    var install = false

    @Flag(help: "Stop and remove that service.")
    var uninstall = false

    @Flag(
        inversion: .prefixedNo,
        help: "Notify on the desktop of other members' changes and of conflicts; default: BYTECLUB_NOTIFY.")
    var notify: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Pause while the network is metered; default: BYTECLUB_METERED, which is use or wait.")
    var unmeteredOnly: Bool?

    @OptionGroup var pace: PaceOptions
    @OptionGroup var progressOptions: ProgressOptions
    @OptionGroup var connection: ConnectionOptions

    var dryRun: Bool { dryRunOption.dryRun }

    func validate() throws {
        if [once, dryRun, install, uninstall].count(where: \.self) > 1, !(once && dryRun && !install && !uninstall) {
            throw ValidationError("--install and --uninstall cannot be combined with each other, --once or --dry-run")
        }
        if install, forceDeletes { throw ValidationError("--force-deletes cannot be combined with --install") }
    }

    /// The settings given as flags.
    var settings: Settings {
        var settings = pace.added(to: connection.settings)
        settings.notifies = notify
        settings.waitsForUnmetered = unmeteredOnly
        return settings
    }

    /// The same options on a service's command line.
    var words: [String] {
        let settings = settings
        let values = [
            ("--server", settings.server), ("--folder", settings.folder),
            ("--ca-file", settings.certificateAuthorityFile), ("--pin", settings.pin),
            ("--limit-up", settings.uploadLimit), ("--limit-down", settings.downloadLimit),
            ("--schedule", settings.schedule),
        ]
        var words = values.flatMap { name, value in value.map { [name, $0] } ?? [] }
        if settings.allowsInsecureHTTP == true { words.append("--insecure-http") }
        if let notify { words.append(notify ? "--notify" : "--no-notify") }
        if let unmeteredOnly { words.append(unmeteredOnly ? "--unmetered-only" : "--no-unmetered-only") }
        return words
    }
}
