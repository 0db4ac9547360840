import ArgumentParser
import ByteClubCore

/// Does what `byteclub photos upload FILE...` asks for.
struct PhotosUploadCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload",
        abstract: "Upload photos and print each one's path on the server.",
        discussion: """
            A folder stands for the JPEG files in it and below it: those in it go to the photos, or to the --album, \
            and each folder in it becomes an album there with its photos and folders. A photo whose bytes are in its \
            album already, under whatever name, is not sent again; another one of the same name there is stored under \
            a numbered name. When some photos fail the others are still uploaded, and the exit code is 75. What was \
            not printed is not on the server; after Ctrl-C, or when the server was away, the same command goes on \
            where it ended, for two days.

            With --background the photos are noted down, and sent whatever becomes of this program: one line each has \
            the ID and the name. The files must stay as they are until then.

            Examples:
              byteclub photos upload ridge.jpg
              byteclub photos upload ~/Pictures
              byteclub photos upload ~/Pictures/trip --album trip --strip-gps
              byteclub photos upload *.jpg --limit-rate 500K --quality 60
              byteclub photos upload --background ~/Pictures/trip
            """)

    @Argument(
        help: "JPEG files, and folders with them.", completion: .file(extensions: ["jpg", "jpeg", "JPG", "JPEG"]))
    var files: [String]

    @Option(
        help: ArgumentHelp("Encode anew with this quality, 1 to 100; else the bytes stay as they are.", valueName: "q"))
    var quality: Int?

    @Flag(
        name: .customLong("strip-gps"),
        help: "Leave the place, the camera and its notes out of what is sent; the picture and the date stay.")
    var stripGPS = false

    @Option(
        help: ArgumentHelp("The folder of the photos to put them in, made when it is not there.", valueName: "name"))
    var album: String?

    @Flag(help: "Put the photos of a folder and of all below it into one folder.")
    var flat = false

    @Flag(help: "Leave it to the background, and return at once; 'byteclub transfers' tells how far it is.")
    var background = false

    @OptionGroup var transfer: TransferOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func validate() throws {
        if let quality, !(1...100).contains(quality) { throw ValidationError("--quality must be 1 to 100") }
    }

    /// What is changed in the photos.
    private var change: PhotoChange { PhotoChange(quality: quality, stripsPlace: stripGPS) }

    func run(in context: Context) async throws {
        let flags = connection.settings
        if background { return try await record(flags, context) }
        let login = try context.login(flags: flags)
        let rate = try transfer.rate(context, flags)
        let lane = Connector.Lane.photos(bytesPerSecond: rate)
        let reporter = ProgressReporter(
            context, display: transfer.progressOptions.display(context, json: outputOptions.json), .upload)
        let windDown = WindDown()
        let (change, json) = (self.change, outputOptions.json)
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
                failure.message + "; photos not printed above are not on the server; go on with: "
                    + ResumeCommand.text(context.arguments))
        }
        if json {
            let present = outcome.done.count { $0.event == .present }
            try context.output.write(
                JSON.line(
                    UploadSummary(
                        uploaded: outcome.done.count - present, present: present, failed: outcome.failures.count,
                        skipped: outcome.skipped, time: CalendarTime.utc(context.now()).rfc3339)))
        }
        if outcome.status != .success { throw Failure.silent(outcome.status) }
    }

    /// Has the photos sent in the background.
    private func record(_ flags: Settings, _ context: Context) async throws {
        let (server, login) = try context.transferServer(flags: flags)
        let rate = try transfer.rate(context, flags)
        let folder = try album.map { try EntryPath.photo($0, login) } ?? login.photos
        var orders: [Result<PhotoUploadOrder, Failure>] = []
        for chosen in ChosenPhoto.all(in: files, isFlat: flat) {
            do {
                let (file, folder) = (chosen.file, try chosen.folder(in: folder))
                // Its name, too, must be one that the server takes.
                do { _ = try folder.appending(PhotoFile.serverName(of: file)) } catch {
                    throw PhotoFile.refusal(of: file, error)
                }
                try await FinishedPhoto(file, context).tell(context)
                // A link gives the photo its own name; folders are the same by whatever name.
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
        try await BackgroundRecording(context: context, rateLimit: rate, json: outputOptions.json).record(orders)
    }
}
