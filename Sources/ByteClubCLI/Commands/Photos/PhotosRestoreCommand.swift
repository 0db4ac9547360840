import ArgumentParser
import ByteClubCore

/// The command `byteclub photos restore NAME`.
struct PhotosRestoreCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore a removed photo or an older version, as a new version.",
        discussion: """
            Restores the caption that was removed with the photo, unless the photo has a new one. List removed photos \
            with 'byteclub photos list --deleted', versions with 'byteclub photos history NAME'.

            Example:
              byteclub photos restore ridge.jpg
            """)

    @Argument(help: "The photo's name.", completion: .names)
    var name: String

    @Option(
        name: .customLong("rev"),
        help: ArgumentHelp("The version; default: the last one of a removed photo.", valueName: "version"))
    var revision: String?

    @OptionGroup var options: RemoteOptions

    func run(in context: Context) async throws {
        let login = try context.login(flags: options.connection.settings)
        let photo = try EntryVersions(ofPhoto: name, login)
        let revision = try revision.map(RevisionArgument.read)
        let (restored, caption) = try await context.withRemote(login) { remote in
            let removed = try await CaptionRestoration.removal(of: photo.path, remote)
            let restored = try await photo.restore(revision, remote)
            do {
                let caption = try await CaptionRestoration.restore(
                    captionOf: photo.path, removedAt: removed, remote)
                return (restored, Result<_, Failure>.success(caption))
            } catch {
                return (restored, .failure(Failure(error)))
            }
        }
        if let caption = try? caption.get() {
            context.note("also restored its caption '\(caption.path.name(below: photo.folder))'")
        }
        try context.print(
            EntryChange(verb: "restored", entry: restored, folder: photo.folder), json: options.output.json)
        if case .failure(let failure) = caption { throw Self.withoutCaption(restored.path, failure, login) }
    }

    /// The failure when only the photo could be restored.
    private static func withoutCaption(_ photo: RemotePath, _ failure: Failure, _ login: Login) -> Failure {
        let name = (try? PhotoCaption.path(of: photo))?.name(below: login.notes) ?? photo.name
        return Failure(
            failure.status == .interrupted ? .interrupted : .tryAgain,
            "the photo is restored, but not its caption: \(failure.message); if it had one, run "
                + "\(ShellWord.command("byteclub notes restore", name))")
    }
}
