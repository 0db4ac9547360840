import ArgumentParser
import Logging

/// The option that names a club's data directory.
struct DataOption: ParsableArguments {
    @Option(help: ArgumentHelp("The directory of the club's data.", valueName: "dir"))
    var data: String

    func validate() throws {
        if data.isEmpty { throw ValidationError("--data is empty; name the club's directory") }
    }

    /// Opens the club's data for administration; when told so, makes the directory that is not there.
    ///
    /// - Throws: ``StorageError``.
    func open(making: Bool = false) throws -> any ClubStore {
        try DataDirectory(path: data).administer(
            making: making, logger: Logger(label: "storage") { _ in LineLog(level: .error) })
    }
}
