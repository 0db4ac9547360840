import ArgumentParser
import ByteClubCore
import Logging

/// The option that names a club's data directory.
struct DataOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("The directory that holds the club's data; made when it is not there.", valueName: "dir"))
    var data: String

    /// Opens the club's data for administration.
    ///
    /// - Throws: ``StorageError``.
    func open() throws -> SQLiteStore {
        let logger = Logger(label: "storage") { _ in LineLog(level: .error) }
        return try SQLiteStore(
            directory: data, mode: .administration, now: { APIDate(seconds: SystemTime.seconds()) }, logger: logger)
    }
}
