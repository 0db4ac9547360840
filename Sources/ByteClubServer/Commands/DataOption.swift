import ArgumentParser
import ByteClubCore
import Logging

/// The option that names a club's data directory.
struct DataOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("The directory that holds the club's data; made when it is not there.", valueName: "dir"))
    var data: String

    /// Opens the club's data.
    ///
    /// - Throws: ``StorageError``.
    func open(
        _ mode: SQLiteStore.Mode = .administration, settings: HistorySettings = HistorySettings(),
        logger: Logger = Logger(label: "storage") { _ in LineLog(level: .error) }
    ) throws -> SQLiteStore {
        try SQLiteStore(
            directory: data, mode: mode, settings: settings, now: { APIDate(seconds: SystemTime.seconds()) },
            logger: logger)
    }
}
