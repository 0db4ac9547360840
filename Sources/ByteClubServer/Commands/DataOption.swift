import ArgumentParser
import Logging

/// The option that names a club's data directory.
struct DataOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("The directory that holds the club's data; made when it is not there.", valueName: "dir"))
    var data: String

    /// Opens the club's data for administration.
    ///
    /// - Throws: ``StorageError``.
    func open() throws -> any ClubStore {
        try DataDirectory(path: data).administer(logger: Logger(label: "storage") { _ in LineLog(level: .error) })
    }
}
