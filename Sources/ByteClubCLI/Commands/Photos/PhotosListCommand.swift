import ArgumentParser
import ByteClubCore

/// Does what `byteclub photos list` asks for.
struct PhotosListCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the photos: name, size and date.")

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        let photos = try login.photos
        let list = try await context.withRemote(login) { remote in
            try await FolderListing.files(of: photos, remote) {
                $0.mimeType == "image/jpeg" || $0.hasThumbnail
            }
        }
        try context.print(list, json: outputOptions.json)
    }
}
