import ArgumentParser
import ByteClubCore

/// Does what `byteclub photos info NAME` asks for.
struct PhotosInfoCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Show a photo's details: size, version, view and its reason, caption, camera.",
        discussion: "Downloads only the beginning of the photo, which has its tags.")

    @Argument(help: "The photo's name.", completion: .names)
    var name: String

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        let path = try EntryPath.photo(name, login)
        let info = try await context.withRemote(login) { try await PhotoInfo(of: path, $0) }
        try context.print(info, json: outputOptions.json)
    }
}
