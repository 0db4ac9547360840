import ArgumentParser
import ByteClubCore

/// Does what `byteclub photos list` asks for.
struct PhotosListCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the photos: name, size and date.",
        discussion: """
            The date is that of the file that was uploaded. Into a pipe or a file goes one line for each photo: name, \
            bytes and date (RFC 3339), separated by tabs. \
            \(EntryObject.help)

            Examples:
              byteclub photos list --sort date
              byteclub photos list --deleted
            """)

    @OptionGroup var listing: ListingOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        let (photos, listing) = (try login.photos, listing.listing())
        let found = try await context.withRemote(login) { remote in
            try await listing.entries(of: photos, remote) {
                $0.isFolder || $0.isPhoto
            }
        }
        let list = self.listing.list(found ?? [], below: photos, dates: .file)
        try context.print(list, json: outputOptions.json)
        if !list.entries.isEmpty { return }
        context.noteEmpty(
            self.listing.deleted ? "no photos were removed" : "no photos yet; 'byteclub photos upload FILE' sends one")
    }
}
