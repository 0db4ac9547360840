import ArgumentParser
import ByteClubCore
import ByteClubMedia

/// The command `byteclub photos show NAME...`.
struct PhotosShowCommand: QueryCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show photos in the terminal; in a pipe, their details.",
        discussion: """
            A panorama uses the full width of the terminal. Terminals that support kitty or iTerm2 graphics \
            get pictures, others half blocks of text; if the environment does not say which, the terminal is queried \
            once. With NO_COLOR, TERM=dumb or in a pipe nothing is drawn unless --as is given.

            --view looks around in a panorama: degrees right of its centre, degrees above the horizon, and degrees of \
            field of view. This downloads the whole photo, up to 64 MiB. Hot spots, lines of the photo's note such as \
            'at 90,-5: [to the hut](hut.jpg)', are numbered in the picture and listed below it, also those outside \
            of the view.

            Examples:
              byteclub photos show ridge.jpg
              byteclub photos show ridge.jpg --view -45,10
              byteclub photos show 'trip-*.jpg' --as blocks
            """)

    @Argument(help: "Names of photos, or patterns with * and ?.", completion: .names)
    var names: [String]

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Look around: 'yaw,pitch' or 'yaw,pitch,fov'.", valueName: "view"),
        transform: ViewArgument.read)
    var view: PanoramaView?

    @Option(help: "How to draw; default: what this terminal supports.")
    var `as`: PictureWay?

    @OptionGroup var progressOptions: ProgressOptions
    @OptionGroup var options: RemoteOptions

    func run(in context: Context) async throws {
        let login = try context.login(flags: options.connection.settings)
        let folder = try login.photos
        let (names, view, json) = (names, view, options.output.json)
        // The picture on the terminal makes a log of its download superfluous.
        let display = progressOptions.progress.display(context, json: json)
        let isQuiet = display == .log && progressOptions.progress == .auto
        let reporter = ProgressReporter(context, display: isQuiet ? .none : display, .download)
        let canvas = json ? nil : try await context.pictureCanvas(self.as)
        let outcome = try await context.withRemote(login, mayTakeLong: view != nil) { remote in
            let show = canvas.map {
                PhotoShow(context: context, remote: remote, folder: folder, canvas: $0, reporter: reporter)
            }
            let photos = try await PhotoPattern.photos(names, login, remote)
            reporter.plan(photos.count)
            return try await reporter.following {
                var outcome = BatchOutcome<RemotePath>()
                var known: [PhotoInfo] = []
                for (index, photo) in photos.enumerated() {
                    do {
                        let path = try photo.get().path
                        if let show, show.canvas.way != .none {
                            if let view { try await show.look(path, view) } else { try await show.show(path) }
                        } else {
                            let info = try await PhotoInfo(of: path, remote)
                            if json {
                                known.append(info)
                            } else {
                                if !outcome.done.isEmpty { try context.output.line("") }
                                try context.print(info, json: false)
                            }
                        }
                        outcome.done.append(path)
                    } catch {
                        if error is Output.BrokenPipe { throw error }
                        reporter.fail()
                        try Task.checkCancellation()
                        let failure = Failure(error)
                        if failure.endsBatch {
                            outcome.end(failure, rest: photos.count - index, "photo", not: "shown")
                            reporter.leave(outcome.skipped)
                            break
                        }
                        outcome.failures.append(failure)
                    }
                }
                if json { try context.output.write(JSON.bytes(known)) }
                return outcome
            }
        }
        try outcome.finish(context)
    }
}

/// Parses the option `--view`.
enum ViewArgument {
    /// Reads `yaw,pitch` or `yaw,pitch,fov`.
    static func read(_ text: String) throws -> PanoramaView {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Double(String($0)) }
        let numbers = parts.compactMap { $0 }
        guard (2...3).contains(parts.count), numbers.count == parts.count, abs(numbers[0]) <= 360,
            abs(numbers[1]) <= 90, numbers.count == 2 || (1...150).contains(numbers[2])
        else {
            throw ValidationError(
                "write yaw,pitch or yaw,pitch,field of view in degrees, as in 90,-10,60")
        }
        return PanoramaView(yaw: numbers[0], pitch: numbers[1], fov: numbers.count == 3 ? numbers[2] : 90)
    }
}
