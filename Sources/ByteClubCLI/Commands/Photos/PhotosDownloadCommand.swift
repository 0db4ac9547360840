import ArgumentParser
import ByteClubCore

/// Does what `byteclub photos download NAME` asks for.
struct PhotosDownloadCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Download a photo, byte for byte, and print the file's name.",
        discussion: """
            The file is there only when it is whole and its hash is the server's.

            Example:
              byteclub photos download ridge.jpg -o ~/ridge.jpg
            """)

    @Argument(help: "The photo's name.")
    var name: String

    @Option(
        name: [.short, .customLong("output")],
        help: ArgumentHelp("Where to write it; else its own name, here.", valueName: "file"), completion: .file())
    var output: String?

    @Flag(help: "Replace a file that is there already.")
    var force = false

    @OptionGroup var transfer: TransferOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func run(in context: Context) async throws {
        let flags = connection.settings
        let login = try context.login(flags: flags)
        let path = try EntryPath.photo(name, login)
        let file = try OutputFile(output ?? path.name, isForced: force)
        let lane = Connector.Lane.photos(bytesPerSecond: try transfer.rate(context, flags))
        let room = try file.room()
        let reporter = ProgressReporter(context, display: transfer.display(context, json: outputOptions.json))
        defer { reporter.finish() }
        let metadata = try await context.withRemote(login, lane) { remote in
            reporter.start(path.name, total: nil)
            return try await reporter.ticking {
                try await file.write { temporary in
                    do {
                        return try await remote.download(path, revision: nil, limit: room, to: temporary) { progress in
                            reporter.update(completed: progress.completed, total: progress.total)
                        }
                    } catch let error as RemoteError where error.code == .tooLarge {
                        throw Failure(
                            .inputOutput,
                            "there is no room for '\(path)': \(HumanSize.shown(room)) are left on the disk"
                        )
                    } catch let error as RemoteError where error.code == .notFound {
                        throw EntryPath.missing("photo", path.name)
                    }
                }
            }
        }
        reporter.finish()
        let result = WrittenFile(file: file.path, bytes: metadata.bytes, source: metadata.path.string)
        try context.print(result, json: outputOptions.json)
    }
}
