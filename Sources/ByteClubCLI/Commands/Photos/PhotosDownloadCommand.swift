import ArgumentParser
import ByteClubCore
import Synchronization

/// The command `byteclub photos download NAME...`.
struct PhotosDownloadCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Download photos, byte for byte, and print the files' names.",
        discussion: """
            A file appears only when it is complete and its hash matches the server's; it gets the date of the \
            uploaded file. An album stands for all photos in and below it, '.' for all photos, and a quoted pattern \
            for all whose names match. These photos are stored in folders named like their albums, the structure that \
            'photos upload DIR' creates, and files that already have the same bytes are skipped. If some photos fail, \
            the others are still downloaded, and the exit code is 75. After Ctrl-C, a kill or a lost network, the \
            same command resumes the download.

            With --background the photos are queued and downloaded even after this program ends; prints one line each \
            with ID and name.

            Examples:
              byteclub photos download ridge.jpg -o ~/ridge.jpg
              byteclub photos download 'trip-*.jpg' -o ~/Pictures/
              byteclub photos download 'Trip 2026' -o ~/Pictures/
              byteclub photos download ridge.jpg -o - | feh -
              byteclub photos download --background 'trip-*.jpg' -o ~/Pictures/
            """)

    @Argument(help: "Names of photos and albums, or patterns with * and ?.", completion: .names)
    var names: [String]

    @Option(
        name: [.short, .customLong("output")],
        help: ArgumentHelp(
            "Write to this file, folder, or - for standard output; default: the photo's name, here.",
            valueName: "file"), completion: .file())
    var output: String?

    @Flag(help: "Replace an existing file.")
    var force = false

    @Flag(help: "Write the photos of all albums to one folder.")
    var flat = false

    @OptionGroup var transfer: TransferOptions
    @OptionGroup var options: RemoteOptions

    func validate() throws {
        guard output == "-" else { return }
        if transfer.background { throw ValidationError("--background cannot write to standard output") }
        if names.count > 1 { throw ValidationError("'-o -' takes a single photo") }
        if options.output.json { throw ValidationError("--json cannot be combined with '-o -'") }
    }

    func run(in context: Context) async throws {
        let flags = options.connection.settings
        if transfer.background { return try await record(flags, context) }
        let login = try context.login(flags: flags)
        TransferFiles.removeExpired(context)
        let rate = try transfer.rate(context, flags)
        let lane = Connector.Lane.photos(bytesPerSecond: rate)
        let reporter = ProgressReporter(
            context, display: transfer.progressOptions.progress.display(context, json: options.output.json), .download)
        let windDown = WindDown()
        let asked = Mutex<(names: [String], done: Set<String>)?>(nil)
        do {
            if try await isOne(login, context), let name = names.first {
                return try await downloadOne(name, login, lane, reporter, windDown, context)
            }
            if output == "-" { throw Failure(.usage, "'-o -' takes a single photo") }
            let target = try OutputFile.folder(output)
            let (names, flat, force, json) = (names, flat, force, options.output.json)
            let folder = try login.photos
            let outcome = try await context.withRemote(login, lane, windDown: windDown) { remote in
                let photos = try await PhotoPattern.photos(names, login, remote, takesAlbums: true)
                let found = photos.compactMap { try? $0.get() }
                // A photo requested by its own name is not placed in a folder named like its album.
                if found.count == photos.count, flat || found.allSatisfy({ $0.place == $0.path.name }) {
                    asked.withLock { $0 = (found.map { $0.path.name(below: folder) }, []) }
                }
                let download = PhotoDownload(
                    context: context, server: login.server, remote: remote, reporter: reporter, windDown: windDown)
                return try await reporter.following {
                    try await download.run(
                        photos, into: target, isFlat: flat, isForced: force,
                        width: rate == nil ? Connector.Lane.photosAtOnce : 1
                    ) { path, written in
                        _ = asked.withLock { $0?.done.insert(path.name(below: folder)) }
                        try context.output.write(json ? JSON.line(written) : Array((written.file + "\n").utf8))
                    }
                }
            }
            try outcome.finish(context)
        } catch let failure as Failure
            where output != "-" && [.interrupted, .terminated].contains(failure.status) && !failure.message.isEmpty
        {
            let names = asked.withLock { $0 }.map { asked in
                (given: self.names, left: asked.names.filter { !asked.done.contains($0) })
            }
            throw Failure(
                failure.status,
                failure.message + "; resume with: " + ResumeCommand.text(context.arguments, names: names))
        }
    }

    /// Whether one photo is requested by its name; contacts the server only if the name can be a pattern or an album.
    private func isOne(_ login: Login, _ context: Context) async throws -> Bool {
        guard names.count == 1, let name = names.first else { return false }
        if !PhotoPattern.isPattern(name), !PhotoPattern.mayBeAlbum(name) { return true }
        return try await context.withRemote(login) { try await PhotoPattern.isOne(name, login, $0) }
    }

    private func downloadOne(
        _ name: String, _ login: Login, _ lane: Connector.Lane, _ reporter: ProgressReporter, _ windDown: WindDown,
        _ context: Context
    ) async throws {
        let path = try EntryPath.photo(name, login)
        if output == "-" {
            return try await context.withRemote(login, lane) { remote in
                try await reporter.following {
                    try await PhotoDownload(
                        context: context, server: login.server, remote: remote, reporter: reporter, windDown: windDown
                    ).run(path, toOutputOf: context)
                }
            }
        }
        let isFolder = output.map { $0.hasSuffix("/") || LocalFile.isDirectory($0) } ?? false
        let place = isFolder ? try OutputFile.folder(output) + path.name : output ?? path.name
        let file = try OutputFile(place, isForced: force)
        let result = try await context.withRemote(login, lane, windDown: windDown) { remote in
            let download = PhotoDownload(
                context: context, server: login.server, remote: remote, reporter: reporter, windDown: windDown)
            return try await reporter.following {
                let written = try await download.run(path, to: file)
                reporter.finish()
                return written
            }
        }
        try context.print(result, json: options.output.json)
    }

    /// Records the downloads for the daemon.
    private func record(_ flags: Settings, _ context: Context) async throws {
        let (server, login) = try context.transferServer(flags: flags)
        let recording = try transfer.recording(context, flags, json: options.output.json)
        let names = names
        let isOne = try await isOne(login, context)
        let isFolder = output.map { $0.hasSuffix("/") || LocalFile.isDirectory($0) } ?? false
        let folder = isOne && !isFolder ? "" : try OutputFile.folder(output)
        // Only patterns and albums need a request.
        let photos =
            names.contains { PhotoPattern.isPattern($0) || PhotoPattern.mayBeAlbum($0) }
            ? try await context.withRemote(login) {
                try await PhotoPattern.photos(names, login, $0, takesAlbums: true)
            }
            : names.map { name in
                Result { FoundPhoto(path: try EntryPath.photo(name, login)) }.mapError { Failure($0) }
            }
        var (orders, files) = ([Result<PhotoDownloadOrder, Failure>](), Set<String>())
        for photo in photos {
            do {
                let photo = try photo.get()
                let below = flat ? photo.path.name : photo.place
                if !isOne { try OutputFile.makeFolders(to: below, in: folder) }
                let place = isOne && !isFolder ? output ?? photo.path.name : folder + below
                let file = try LocalFile.absolute(place, in: context.workingDirectory())
                // Some file systems ignore case.
                guard files.insert(PathKey.fold(file)).inserted else {
                    throw Failure(
                        .cannotCreate,
                        "'\(photo.path.name(below: try login.photos))' was not downloaded: '\(file)' is another photo's"
                    )
                }
                if !force, let known = photo.known, try await PhotoDownload.holds(file, known) {
                    context.note("'\(file)' already exists")
                    continue
                }
                _ = try OutputFile(file, isForced: force)
                orders.append(
                    .success(PhotoDownloadOrder(server: server, path: photo.path.string, file: file, isForced: force)))
            } catch {
                orders.append(.failure(Failure(error)))
            }
        }
        if orders.isEmpty { return }
        try await recording.record(orders)
    }
}
