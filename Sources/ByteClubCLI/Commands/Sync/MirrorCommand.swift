import ArgumentParser
import ByteClubCore

/// A command about a mirror.
///
/// A program without an engine replaces itself with `byteclub-mirror`.
protocol MirrorCommand: LocalCommand {
    /// Does the work with an engine.
    func run(in context: Context, with engine: any MirrorEngine.Type) async throws
}

extension MirrorCommand {
    func run(in context: Context) async throws { try await runWithEngine(in: context) }

    /// Runs with the program's engine, or becomes the program that has one.
    func runWithEngine(in context: Context) async throws {
        guard let engine = context.engine else { try SiblingProgram.mirror.become(context.arguments, context) }
        try await run(in: context, with: engine)
    }
}

/// A command that makes one request to a mirror's engine, and prints the answer.
///
/// It works whether or not a sync of the mirror runs.
protocol MirrorRequest: MirrorCommand {
    /// The result to print.
    associatedtype Answer: CommandResult

    /// The option or argument that names the mirror.
    associatedtype Choice: MirrorChoice

    /// The named mirror.
    var mirror: Choice { get }
    /// A path in the mirror that the command is about; nil without one.
    var subject: String? { get }
    /// How the answer is printed.
    var outputOptions: OutputOptions { get }

    /// Asks.
    func answer(_ engine: any MirrorEngine.Type, of place: MirrorPlace) throws -> Answer
}

extension MirrorRequest {
    var subject: String? { nil }

    func run(in context: Context, with engine: any MirrorEngine.Type) async throws {
        let place = try MirrorPlace(mirror.directory, around: subject, context)
        try place.requireSynced()
        try context.print(try answer(engine, of: place), json: outputOptions.json)
    }
}

/// A way to name a mirror on the command line.
protocol MirrorChoice: ParsableArguments {
    /// The mirror as typed; nil for the default.
    var directory: String? { get }
}

/// The mirror, for commands whose arguments are paths in it.
struct MirrorOptions: MirrorChoice {
    @Option(name: .customLong("mirror"), help: MirrorArgument.help, completion: .directory)
    var directory: String?
}

/// The mirror, for commands without other arguments.
struct MirrorArgument: MirrorChoice {
    /// The help for a mirror, with its default.
    static let help = ArgumentHelp(
        "The mirror; default: the one that you are in, else the one synced last.", valueName: "dir")

    @Argument(help: Self.help, completion: .directory)
    var directory: String?
}

/// Limits for large files of a mirror; each flag overrides the environment, which overrides the settings file.
struct PaceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Limit bytes per second for uploads of large files, as in 500K or 2M; default: BYTECLUB_LIMIT_UP.",
            valueName: "rate"), transform: ByteRate.argument)
    var limitUp: ByteRate?

    @Option(
        help: ArgumentHelp("Limit downloads of large files likewise; default: BYTECLUB_LIMIT_DOWN.", valueName: "rate"),
        transform: ByteRate.argument)
    var limitDown: ByteRate?

    @Option(
        help: ArgumentHelp(
            "Slow down or pause large files at these times, as in 'mon-fri 9:00-17:00 limit 200K; sat,sun pause', in "
                + "addition to --limit-up and --limit-down; default: BYTECLUB_SCHEDULE.", valueName: "spans"))
    var schedule: String?

    func validate() throws {
        do { _ = try SyncSchedule(parsing: schedule ?? "") } catch { throw ValidationError(error.message) }
    }

    /// Other settings, overridden by these options.
    func added(to settings: Settings) -> Settings {
        var settings = settings
        settings.uploadLimit = limitUp.map { "\($0.bytesPerSecond)" }
        settings.downloadLimit = limitDown.map { "\($0.bytesPerSecond)" }
        settings.schedule = schedule
        return settings
    }
}

extension SyncConfiguration {
    /// Sets the limits for large files.
    ///
    /// - Throws: ``Failure`` or ``SyncError`` for invalid settings.
    mutating func setPace(_ settings: Settings) throws {
        uploadLimit = try ByteRate.setting(settings.uploadLimit, "limit-up")
        downloadLimit = try ByteRate.setting(settings.downloadLimit, "limit-down")
        schedule = try SyncSchedule(parsing: settings.schedule ?? "")
    }
}
