import ArgumentParser
import ByteClubCore

/// The command `byteclub sync [DIR]`.
struct SyncDirectoryCommand: MirrorCommand {
    /// The parser's name for it, which users never type and which is unlikely as a directory.
    static let name = "in-directory"

    static let configuration = CommandConfiguration(
        commandName: name, abstract: "Sync a directory with the shared folder.", shouldDisplay: false)

    @Argument(help: MirrorArgument.help, completion: .directory)
    var directory: String?

    @OptionGroup var options: SyncOptions
    @OptionGroup var outputOptions: OutputOptions

    func run(in context: Context, with engine: any MirrorEngine.Type) async throws {
        if options.install || options.uninstall { return try await changeService(context, engine) }
        let login = try context.login(flags: options.connection.settings)
        let place = try MirrorPlace(directory, context)
        try place.checkWord(directory)
        let isRefused = await isRefused(waits: try waitsForUnmetered(context), context)
        if !options.dryRun, !isRefused, let before = try place.registry.follow(to: place.directory, engine) {
            context.note("the mirror was moved here from '\(before)'")
        }
        let settings = try configuration(place, login, context)
        let (once, dryRun) = (options.once, options.dryRun)
        let printer = SyncPrinter(
            context: context, json: outputOptions.json, progress: options.progressOptions.progress,
            tellsTime: !options.once
        ) {
            try? engine.status(of: settings)
        }
        let notification = ServiceNotifier(context.environment)
        let notifier = once || dryRun ? nil : try notifier(context)
        do {
            if isRefused {
                throw Failure(
                    .tryAgain, "the network is metered; nothing was done, and --no-unmetered-only syncs all the same")
            }
            try place.prepare(engine, isDryRun: dryRun)
            if !dryRun {
                try place.bind(to: settings.remoteRoot)
                try place.remember(engine)
            }
            let isComplete = try await context.withRemote(login, .mirror) { remote in
                let engine = try engine.init(configuration: settings, remote: remote)
                if dryRun { return try printer.print(try await engine.plan()) }
                let activity = ActivityFile(place, context)
                if once {
                    return try await engine.runOnce {
                        activity.take($0)
                        printer.take($0)
                    }.isComplete
                }
                return try await Self.follow(engine, printer, activity, notification, notifier)
            }
            try printer.finish(nil)
            if once, !dryRun, !outputOptions.json { noteConflicts(try engine.status(of: settings), context) }
            if !isComplete { throw Failure.silent(.tryAgain) }
        } catch {
            var failure = Failure(error)
            if !once, failure.status == .interrupted || failure.status == .terminated {
                failure.message = "stopped; the next sync resumes from here"
            }
            // The paths before the summary show the failure already.
            if printer.hasSummary { failure.message = "" }
            try printer.finish(failure)
            throw failure
        }
    }

    /// Whether a sync with an end does nothing, because the network is metered.
    private func isRefused(waits: Bool, _ context: Context) async -> Bool {
        guard waits, options.once || options.dryRun else { return false }
        return await context.network.isMetered
    }

    /// Whether the sync waits while the network is metered; not inlined, as ``configuration(_:_:_:)``.
    @inline(never)
    private func waitsForUnmetered(_ context: Context) throws -> Bool {
        try context.settings(flags: options.settings).waitsForUnmetered == true
    }

    /// Prints the number of unresolved conflicts, old and new.
    private func noteConflicts(_ status: SyncStatus, _ context: Context) {
        let count = status.conflicts.count
        if count == 0 { return }
        context.note("\(count) unresolved conflict\(count == 1 ? "" : "s"); 'byteclub conflicts' lists them")
    }

    /// Installs or removes the service that syncs the mirror.
    private func changeService(_ context: Context, _ engine: any MirrorEngine.Type) async throws {
        let place = try MirrorPlace(directory, context)
        try place.checkWord(directory)
        let service = MirrorService(of: place, context)
        let words = options.install ? try serviceWords(context) : []
        let removes = options.uninstall
        let answer = try await BlockingWork.run {
            try removes ? service.uninstall() : service.install(engine, options: words)
        }
        try context.print(answer, json: outputOptions.json)
    }

    /// The notifier of other members' changes; nil unless enabled, and without a desktop.
    private func notifier(_ context: Context) throws -> SyncNotifier? {
        guard try context.settings(flags: options.settings).notifies == true else { return nil }
        guard let desktop = Desktop.find(context.environment) else {
            context.note("no desktop notifications: --notify needs notify-send and a session bus")
            return nil
        }
        return SyncNotifier(desktop)
    }

    /// The engine's configuration.
    ///
    /// Not inlined: the optimiser of Swift 6.3 crashes on it in an asynchronous function.
    @inline(never)
    private func configuration(
        _ place: MirrorPlace, _ login: Login, _ context: Context
    ) throws -> SyncConfiguration {
        var configuration = try place.configuration(login, context)
        configuration.approvesDeletions = options.forceDeletes
        let settings = try context.settings(flags: options.settings)
        try configuration.setPace(settings)
        if settings.waitsForUnmetered == true { configuration.networkIsMetered = context.network.states }
        return configuration
    }

    /// The validated options on a service's command line; not inlined either.
    @inline(never)
    private func serviceWords(_ context: Context) throws -> [String] {
        _ = try context.storedLogin(
            flags: options.connection.settings,
            otherwise: "a service needs a stored login; BYTECLUB_TOKEN is not written to the unit")
        var configuration = SyncConfiguration(directory: "", stateDirectory: "")
        try configuration.setPace(try context.settings(flags: options.settings))
        var options = options
        options.connection.trust.certificateAuthorityFile =
            try options.connection.trust.certificateAuthorityFile.map { try LocalFile.absolute($0) }
        return options.words
    }

    /// Syncs until the task is cancelled.
    private static func follow(
        _ engine: any MirrorEngine, _ printer: SyncPrinter, _ activity: ActivityFile,
        _ notification: ServiceNotifier?, _ notifier: SyncNotifier?
    ) async throws -> Bool {
        let events = engine.events
        let printing = Task {
            let memory = SpareMemory()
            for await event in events {
                notification?.ready()
                activity.take(event)
                printer.take(event)
                notifier?.take(event)
                event.event == .idle ? memory.releaseSoon() : memory.keep()
            }
        }
        defer { printing.cancel() }
        // Returns in good order after a cancellation.
        try await engine.run()
        throw CancellationError()
    }
}
