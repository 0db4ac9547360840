import ArgumentParser

/// `restore`: makes a data directory from a backup.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Restore a data directory from a backup.",
        discussion: """
            The directory must be empty or not there; the backup stays as it is. Clients of the server that was backed \
            up notice that its history starts over, and read the club anew.
            """)

    @Option(help: ArgumentHelp("The directory that backup made.", valueName: "dir"))
    var from: String
    @Option(help: ArgumentHelp("The directory to make.", valueName: "dir"))
    var data: String

    func validate() throws {
        if data.isEmpty { throw ValidationError("--data is empty; name the directory to make") }
    }

    func run() async throws {
        _ = try DataDirectory(path: from).copy(to: data, sharing: .nothing)
        StandardOutput.write(line: "\(data): restored from \(from)")
    }
}
