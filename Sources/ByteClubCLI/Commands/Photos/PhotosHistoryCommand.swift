import ArgumentParser
import ByteClubCore

/// Does what `byteclub photos history NAME` asks for.
struct PhotosHistoryCommand: ClubCommand {
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

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func validate() throws {
        guard (1...EntryVersions.most).contains(limit) else { throw ValidationError("--limit must be 1 to 1000") }
    }

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        let photo = EntryVersions(
            path: try EntryPath.photo(name, login), folder: try login.photos, kind: "photo")
        let limit = limit
        let versions = try await context.withRemote(login) { try await photo.list($0, limit: limit) }
        try context.print(VersionList(versions: versions), json: outputOptions.json)
    }
}
