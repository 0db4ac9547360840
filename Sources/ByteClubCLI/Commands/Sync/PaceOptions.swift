import ArgumentParser
import ByteClubCore

/// How fast large files of a mirror are transferred; each flag beats the environment, which beats the settings file.
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

    /// Settings with what the flags set beside others.
    func added(to settings: Settings) -> Settings {
        var settings = settings
        settings.uploadLimit = limitUp.map { "\($0.bytesPerSecond)" }
        settings.downloadLimit = limitDown.map { "\($0.bytesPerSecond)" }
        settings.schedule = schedule
        return settings
    }
}

extension SyncConfiguration {
    /// Sets how fast large files are transferred.
    ///
    /// - Throws: ``Failure`` or ``SyncError`` for settings that make no sense.
    mutating func setPace(_ settings: Settings) throws {
        uploadLimit = try Self.rate(settings.uploadLimit, "limit-up")
        downloadLimit = try Self.rate(settings.downloadLimit, "limit-down")
        schedule = try SyncSchedule(parsing: settings.schedule ?? "")
    }

    private static func rate(_ text: String?, _ name: String) throws -> Int? {
        guard let text else { return nil }
        guard let rate = ByteRate(text) else {
            throw Failure(.configuration, "invalid value '\(text)' for \(name); write 500K or 2M")
        }
        return rate.bytesPerSecond
    }
}
