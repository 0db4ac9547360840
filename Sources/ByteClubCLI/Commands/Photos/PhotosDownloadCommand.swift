import ArgumentParser
import ByteClubCore

/// Does what `byteclub photos download NAME...` asks for.
struct PhotosDownloadCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Download photos, byte for byte, and print the files' names.",
        discussion: """
            A file is there only when it is whole and its hash is the server's, with the date of the file that was \
            uploaded. A quoted pattern stands for all the photos whose names it fits. When some of several photos \
            fail the others are still downloaded, and the exit code is 75.

            Examples:
              byteclub photos download ridge.jpg -o ~/ridge.jpg
              byteclub photos download 'trip-*.jpg' -o ~/Pictures/
              byteclub photos download ridge.jpg -o - | feh -
            """)

    @Argument(help: "The photos' names, or patterns with * and ?.", completion: .names)
    var names: [String]

    @Option(
        name: [.short, .customLong("output")],
        help: ArgumentHelp(
            "Where to write: a file, a folder, or - for standard output; else the photo's own name, here.",
            valueName: "file"), completion: .file())
    var output: String?

    @Flag(help: "Replace a file that is there already.")
    var force = false

    @OptionGroup var transfer: TransferOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func validate() throws {
        guard output == "-" else { return }
        if names.count > 1 || names.contains(where: PhotoPattern.isPattern) {
            throw ValidationError("'-o -' takes the name of one photo")
        }
        if outputOptions.json { throw ValidationError("with '-o -' standard output is the photo; leave --json out") }
    }

    func run(in context: Context) async throws {
        let flags = connection.settings
        let login = try context.login(flags: flags)
        let lane = Connector.Lane.photos(bytesPerSecond: try transfer.rate(context, flags))
        let reporter = ProgressReporter(context, display: transfer.display(context, json: outputOptions.json))
        defer { reporter.finish() }
        if names.count == 1, let name = names.first, !PhotoPattern.isPattern(name) {
            return try await downloadOne(name, login, lane, reporter, context)
        }
        let target = try OutputFile.folder(output)
        let (names, force, json) = (names, force, outputOptions.json)
        let outcome = try await context.withRemote(login, lane) { remote in
            let photos = try await PhotoPattern.photos(names, login, remote)
            let download = PhotoDownload(remote: remote, reporter: reporter)
            return try await reporter.ticking {
                try await download.run(photos, into: target, isForced: force) { written in
                    try context.output.write(json ? JSON.line(written) : Array((written.file + "\n").utf8))
                }
            }
        }
        try outcome.finish(context)
    }

    private func downloadOne(
        _ name: String, _ login: Login, _ lane: Connector.Lane, _ reporter: ProgressReporter, _ context: Context
    ) async throws {
        let path = try EntryPath.photo(name, login)
        if output == "-" {
            return try await context.withRemote(login, lane) { remote in
                try await reporter.ticking {
                    try await PhotoDownload(remote: remote, reporter: reporter).run(path, toOutputOf: context)
                }
            }
        }
        let isFolder = output.map { $0.hasSuffix("/") || LocalFile.isDirectory($0) } ?? false
        let place = isFolder ? try OutputFile.folder(output) + path.name : output ?? path.name
        let file = try OutputFile(place, isForced: force)
        let result = try await context.withRemote(login, lane) { remote in
            let download = PhotoDownload(remote: remote, reporter: reporter)
            return try await reporter.ticking { try await download.run(path, to: file) }
        }
        reporter.finish()
        try context.print(result, json: outputOptions.json)
    }
}
