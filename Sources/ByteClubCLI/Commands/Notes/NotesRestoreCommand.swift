import ArgumentParser
import ByteClubCore

/// Does what `byteclub notes restore NAME VERSION` asks for.
struct NotesRestoreCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Bring an older version of a note back, as a new version.",
        discussion: "The versions are listed by 'byteclub notes history NAME'.")

    @Argument(help: "The note's name.")
    var name: String

    @Argument(help: ArgumentHelp("The version to bring back.", valueName: "version"))
    var revision: String

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        let path = try EntryPath.note(name, login)
        let revision = try RevisionArgument.read(revision)
        let restored = try await context.withRemote(login) { remote in
            do {
                return try await remote.restore(path, to: revision)
            } catch let error as RemoteError where RevisionArgument.isMissing(revision, error) {
                throw Failure(
                    .noInput,
                    "'\(path.name)' has no version \(revision); see 'byteclub notes history "
                        + "\(ShellWord.quoted(path.name))'")
            }
        }
        try context.print(EntryChange(verb: "restored", entry: restored), json: outputOptions.json)
    }
}
