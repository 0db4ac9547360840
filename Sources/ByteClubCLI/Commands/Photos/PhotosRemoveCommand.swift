import ArgumentParser
import ByteClubCore

/// Does what `byteclub photos rm NAME...` asks for.
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

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        let paths = try names.map { try EntryPath.photo($0, login) }
        try await context.remove(
            paths, below: try login.photos, kind: "photo", login, json: outputOptions.json,
            companion: { try? PhotoCaption.path(of: $0) })
    }
}
