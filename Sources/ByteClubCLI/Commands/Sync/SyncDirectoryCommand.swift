import ArgumentParser
import ByteClubCore
import Logging

/// Does what `byteclub sync [DIR]` asks for.
struct SyncDirectoryCommand: MirrorCommand {
    /// The parser's name for it, which nobody types and no directory is likely to have.
    static let name = "in-directory"

    static let configuration = CommandConfiguration(
        commandName: name, abstract: "Keep a directory the same as the shared folder.", shouldDisplay: false)

    @Argument(
        help: ArgumentHelp("The mirror; else the one that was synced last.", valueName: "dir"),
        completion: .directory)
    var directory: String?

    @OptionGroup var options: SyncOptions
    @OptionGroup var outputOptions: OutputOptions

    func run<Engine: MirrorEngine>(in context: Context, with _: Engine.Type) async throws {
        let login = try context.login(flags: options.connection.settings)
        let place = try MirrorPlace(directory, context)
        var configuration = place.configuration
        configuration.remoteRoot = login.folder
        configuration.approvesDeletions = options.forceDeletes
        configuration.usesExtension = context.environment["BYTECLUB_PLAIN"] != "1"
        let settings = configuration
        let logger = DiagnosticLog.logger(context)
        let printer = SyncPrinter(context: context, json: outputOptions.json)
        let (once, dryRun) = (options.once, options.dryRun)
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
