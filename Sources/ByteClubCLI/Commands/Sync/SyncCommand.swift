import ArgumentParser
import ByteClubCore
import Logging

/// Does what `byteclub sync [DIR]` asks for.
struct SyncCommand: MirrorCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Keep a directory the same as the shared folder.",
        discussion: """
            Runs until Ctrl-C and prints one line for each change; with --once it ends when both sides agree. A \
            directory that does not exist is made. When both sides changed a note, both texts are kept, one as a \
            conflict copy. Files that vanish here go to a trash in the mirror. Unusually many deletions are held \
            until --force-deletes. The file .byteclubignore names what stays here.

            Exit codes of --once: 0 both sides agree, 75 something is held or could not be done yet, 66 the mirror \
            is gone.

            Examples:
              byteclub sync ~/club
              byteclub sync ~/club --once --dry-run
              byteclub sync --once --json
            """)

    @Argument(
        help: ArgumentHelp("The mirror; else the one that was synced last.", valueName: "dir"),
        completion: .directory)
    var directory: String?

    @Flag(help: "End when mirror and server agree.")
    var once = false

    @Flag(help: "Only print what would be done.")
    var dryRun = false

    @Flag(help: "Carry out deletions that are held because they are many.")
    var forceDeletes = false

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print one JSON object a line; the last one's event is 'summary'.")
    var json = false

    func run<Engine: MirrorEngine>(in context: Context, with _: Engine.Type) async throws {
        let login = try context.login(flags: connection.settings)
        let place = try MirrorPlace(directory, context)
        var configuration = place.configuration
        configuration.remoteRoot = login.folder
        configuration.approvesDeletions = forceDeletes
        let settings = configuration
        let logger = DiagnosticLog.logger(context)
        let printer = SyncPrinter(context: context, json: json)
        let (once, dryRun) = (once, dryRun)
        do {
            try place.prepare(isRehearsal: dryRun)
            if !dryRun { try place.remember() }
            let isComplete = try await context.withRemote(login, .mirror) { remote in
                let engine = try Engine(configuration: settings, remote: remote, logger: logger)
                if dryRun { return try printer.print(try await engine.plan()) }
                if once { return try await engine.runOnce { printer.take($0) }.isComplete }
                return try await Self.follow(engine, printer)
            }
            try printer.finish(nil)
            if !isComplete { throw Failure.silent(.tryAgain) }
        } catch {
            var failure = Failure(error)
            if !once, failure.status == .interrupted || failure.status == .terminated {
                failure.message = "stopped; the next sync goes on from here"
            }
            try printer.finish(failure)
            throw failure
        }
    }

    /// Syncs until it is cancelled.
    private static func follow(_ engine: any MirrorEngine, _ printer: SyncPrinter) async throws -> Bool {
        let events = engine.events
        let printing = Task { for await event in events { printer.take(event) } }
        defer { printing.cancel() }
        // It returns when it is cancelled, with all in order.
        try await engine.run()
        throw CancellationError()
    }
}
