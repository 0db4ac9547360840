import ArgumentParser
import ByteClubCore

/// Does what `byteclub notes list` asks for.
struct NotesListCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the notes: name, size and date.")

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        let list = try await context.withRemote(login) { try await FolderListing.files(of: login.notes, $0) }
        try context.print(list, json: outputOptions.json)
    }
}
