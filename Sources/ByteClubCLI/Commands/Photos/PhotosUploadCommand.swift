import ArgumentParser
import ByteClubCore

/// The command `byteclub photos upload FILE...`.
struct PhotosUploadCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload",
        abstract: "Upload photos and print each one's path on the server.",
        discussion: """
            A folder stands for the JPEG files in and below it: its own photos go to 'photos' or to the --album, and \
            each subfolder becomes an album there. A photo whose bytes are already in its album, under any name, is \
            not sent again; a different photo of the same name is stored under a numbered name. If some photos fail, \
            the others are still uploaded, and the exit code is 75. Photos that were not printed are not on the \
            server; after Ctrl-C or a server outage the same command resumes the upload, for up to two days.

            With --background the photos are queued and uploaded even after this program ends; prints one line each \
            with ID and name. Do not change the files until then.

            Examples:
              byteclub photos upload ridge.jpg
              byteclub photos upload ~/Pictures
              byteclub photos upload ~/Pictures/trip --album trip --strip-gps
              byteclub photos upload *.jpg --limit-rate 500K --quality 60
              byteclub photos upload --background ~/Pictures/trip
            """)

    @Argument(
        help: "JPEG files, or folders of them.", completion: .file(extensions: ["jpg", "jpeg", "JPG", "JPEG"]))
    var files: [String]

    @Option(
        help: ArgumentHelp("Re-encode with this quality, 1 to 100; default: send the file unchanged.", valueName: "q"))
    var quality: Int?

    @Flag(
        name: .customLong("strip-gps"),
        help: "Remove location and camera data from what is sent; image and date stay.")
    var stripGPS = false

    @Option(
        help: ArgumentHelp("The album to upload to, created if missing.", valueName: "name"))
    var album: String?

    @Flag(help: "Upload the photos in and below a folder to one album.")
    var flat = false

    @OptionGroup var transfer: TransferOptions
    @OptionGroup var options: RemoteOptions

    func validate() throws {
        if let quality, !(1...100).contains(quality) { throw ValidationError("--quality must be 1 to 100") }
    }

    /// Changes to the photos.
    private var change: PhotoChange { PhotoChange(quality: quality, stripsPlace: stripGPS) }

    func run(in context: Context) async throws {
        let flags = options.connection.settings
        if transfer.background { return try await record(flags, context) }
        let login = try context.login(flags: flags)
        let rate = try transfer.rate(context, flags)
        let lane = Connector.Lane.photos(bytesPerSecond: rate)
        let reporter = ProgressReporter(
            context, display: transfer.progressOptions.progress.display(context, json: options.output.json), .upload)
        let windDown = WindDown()
        let (change, json) = (self.change, options.output.json)
        let photos = ChosenPhoto.all(in: files, isFlat: flat)
        let folder = try album.map { try EntryPath.photo($0, login) } ?? login.photos
        let outcome: BatchOutcome<UploadedPhoto>
        do {
            outcome = try await context.withRemote(login, lane, windDown: windDown) { remote in
                let batch = PhotoBatch(
                    context: context, remote: remote, server: login.server, folder: folder, change: change,
                    json: json, width: rate == nil ? Connector.Lane.photosAtOnce : 1, reporter: reporter,
                    windDown: windDown)
                return try await reporter.following { try await batch.upload(photos) }
            }
        } catch let failure as Failure where failure.status == .interrupted || failure.status == .terminated {
            throw Failure(
                failure.status,
                failure.message + "; photos not printed above are not on the server; resume with: "
                    + ResumeCommand.text(context.arguments))
        }
        if json {
            let present = outcome.done.count { $0.event == .present }
            try context.output.write(
                JSON.line(
                    UploadSummary(
                        uploaded: outcome.done.count - present, present: present, failed: outcome.failures.count,
                        skipped: outcome.skipped, time: context.timestamp)))
        }
        if outcome.status != .success { throw Failure.silent(outcome.status) }
    }

    /// Records the uploads for the daemon.
    private func record(_ flags: Settings, _ context: Context) async throws {
        let (server, login) = try context.transferServer(flags: flags)
        let recording = try transfer.recording(context, flags, json: options.output.json)
        let folder = try album.map { try EntryPath.photo($0, login) } ?? login.photos
        var orders: [Result<PhotoUploadOrder, Failure>] = []
        for chosen in ChosenPhoto.all(in: files, isFlat: flat) {
            do {
                let (file, folder) = (chosen.file, try chosen.folder(in: folder))
                // The name must be valid on the server as well.
                do { _ = try folder.appending(PhotoFile.serverName(of: file)) } catch {
                    throw PhotoFile.refusal(of: file, error)
                }
                try await FinishedPhoto(file, context).tell(context)
                // A symbolic link names its photo; a linked folder is the same folder.
                let path = try LocalFile.absolute(file, in: context.workingDirectory())
                let parent = LocalFile.resolved(LocalFile.parent(of: path))
                let place = (parent == "/" ? "" : parent) + "/" + LocalFile.name(of: path)
                let state = try FileState(of: place)
                orders.append(
                    .success(
                        PhotoUploadOrder(
                            server: server, folder: folder.string, file: place, state: state, change: change)))
            } catch {
                orders.append(.failure(Failure(error)))
            }
        }
        try await recording.record(orders)
    }
}
