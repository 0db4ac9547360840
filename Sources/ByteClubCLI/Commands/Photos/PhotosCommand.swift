import ArgumentParser
import ByteClubCore

/// The command `byteclub photos …`.
struct PhotosCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "photos",
        abstract: "Upload, download and list panorama photos.",
        discussion: """
            Photos are the JPEG files in the folder 'photos' of the shared folder; its subfolders are albums. Photos \
            are stored unchanged unless --quality or --strip-gps is given.

            Examples:
              byteclub photos upload *.jpg --limit-rate 500K
              byteclub photos show ridge.jpg
              byteclub photos thumbnail ridge.jpg --size l -o small.jpg
            """,
        subcommands: [
            PhotosListCommand.self, PhotosAlbumsCommand.self, PhotosShowCommand.self, PhotosOpenCommand.self,
            PhotosUploadCommand.self, PhotosDownloadCommand.self, PhotosThumbnailCommand.self, PhotosInfoCommand.self,
            PhotosCaptionCommand.self, PhotosSetViewCommand.self, PhotosMoveCommand.self, PhotosRemoveCommand.self,
            PhotosHistoryCommand.self, PhotosRestoreCommand.self,
        ])
}

/// The command `byteclub photos info NAME`.
struct PhotosInfoCommand: RemoteCommand, QueryCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Show a photo's details: size, version, view and its reason, caption, camera.",
        discussion: "Downloads only the beginning of the photo, which has its tags.")

    @Argument(help: "The photo's name.", completion: .names)
    var name: String

    @OptionGroup var options: RemoteOptions

    func answer(_ login: Login, _ context: Context) async throws -> PhotoInfo {
        let path = try EntryPath.photo(name, login)
        return try await context.withRemote(login) { try await PhotoInfo(of: path, $0) }
    }
}

/// The command `byteclub photos rm NAME...`.
struct PhotosRemoveCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Remove photos; their versions stay in the history.",
        discussion: """
            Removes a photo's caption, the note beside it, as well; 'photos restore' restores both.

            Example:
              byteclub photos rm old.jpg
              byteclub photos list --deleted
              byteclub photos restore old.jpg
            """)

    @Argument(help: "The photos' names.", completion: .names)
    var names: [String]

    @OptionGroup var options: RemoteOptions

    func run(in context: Context) async throws {
        let login = try context.login(flags: options.connection.settings)
        let paths = try names.map { try EntryPath.photo($0, login) }
        try await context.remove(
            paths, below: try login.photos, kind: "photo", login, json: options.output.json,
            companion: { try? PhotoCaption.path(of: $0) })
    }
}

/// The command `byteclub photos history NAME`.
struct PhotosHistoryCommand: HistoryCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "List a photo's versions, newest first: version, size, date and author.",
        discussion: """
            Restore one with 'photos restore NAME --rev VERSION'. \(EntryObject.help)
            """)

    @Argument(help: "The name of a photo, existing or removed.", completion: .names)
    var name: String

    @Option(help: "List at most this many versions, 1 to 1000.")
    var limit = 100

    @OptionGroup var options: RemoteOptions

    func entry(_ login: Login) throws -> EntryVersions { try EntryVersions(ofPhoto: name, login) }
}
