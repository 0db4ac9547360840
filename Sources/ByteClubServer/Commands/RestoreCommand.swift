import ArgumentParser

/// `restore`: makes a data directory from a backup.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Restore a data directory from a backup.",
        discussion: """
            The directory must be empty or missing; the backup stays unchanged. Clients of the original server notice \
            that its history starts over, and read the whole club again.
            """)

    @Option(help: ArgumentHelp("A directory created by backup.", valueName: "dir"))
    var from: String
    @Option(help: ArgumentHelp("The directory to create.", valueName: "dir"))
    var data: String

    func validate() throws {
        if data.isEmpty { throw ValidationError("--data is empty; name the directory to create") }
    }

    func run() async throws {
        _ = try DataDirectory(path: from).copy(to: data, sharing: .nothing)
        StandardOutput.write(line: "\(data): restored from \(from)")
    }
}
