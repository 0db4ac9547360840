import ArgumentParser

/// The options about how long the past is kept, and how much may be stored.
struct HistoryOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "For how many days a version is kept after it was replaced or deleted; without it for ever.",
            valueName: "days"))
    var keepHistory: Int64?
    @Option(help: ArgumentHelp("The most bytes that all files together may have.", valueName: "bytes"))
    var quota: Int64?
    @Option(
        help: ArgumentHelp(
            "The most bytes that the files may have which one member was the last to write.", valueName: "bytes"))
    var memberQuota: Int64?
    @Option(help: ArgumentHelp("Seconds between two rounds of housekeeping; for tests.", visibility: .hidden))
    var housekeepingInterval = 3600.0

    /// The time between two rounds of housekeeping.
    var interval: Duration { .seconds(housekeepingInterval) }

    /// The settings that the options make.
    func settings() -> HistorySettings {
        HistorySettings(keep: keepHistory.map { $0 * 86_400 }, clubQuota: quota, memberQuota: memberQuota)
    }

    func validate() throws {
        guard (keepHistory ?? 0) >= 0, (keepHistory ?? 0) <= 100_000, (quota ?? 0) >= 0, (memberQuota ?? 0) >= 0,
            housekeepingInterval > 0
        else { throw ValidationError("the options about history and quotas are not negative") }
    }
}
