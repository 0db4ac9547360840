import ArgumentParser

/// `backup`: a consistent copy of a club's data; works whether or not the server runs.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy a club's data to a new directory, while the server runs or not.",
        discussion: """
            The copy holds all that was stored before the command began, and is on disk when the command ends. Each \
            backup needs a directory of its own; one that has something in it is refused. On the same file system large \
            files are not copied but given a second name: put backups on another disk to survive the loss of this one.
            """)

    @OptionGroup var data: DataOption
    @Argument(help: "The directory to make.")
    var target: String

    func run() async throws {
        let summary = try DataDirectory(path: data.data).copy(to: target)
        StandardOutput.write(
            line: "\(target): the database and \(summary.contents) large files, \(summary.linked) of them linked")
    }
}
