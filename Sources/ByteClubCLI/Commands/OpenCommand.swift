import ArgumentParser
import ByteClubCore
import ByteClubRemotes

/// Does what `byteclub open [NAME]` asks for.
struct OpenCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open the club's gallery, a note or a photo in your browser.",
        discussion: """
            Without a browser here, prints the page's address.

            Examples:
              byteclub open
              byteclub open trip.md
              byteclub open photos/ridge.jpg --print
            """)

    @Argument(help: "The note or photo.", completion: .names)
    var name: String?

    @OptionGroup var options: OpenOptions
    @OptionGroup var connection: ConnectionOptions

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        guard let name else { return try options.show(ClubPage.gallery(at: login.server.origin), context) }
        let path = try EntryPath.entry(name, login)
        let missing = Failure(
            .noInput,
            "no note or photo named '\(Failure.line(path.name(below: login.folder)))'; photos are named like "
                + "'photos/ridge.jpg'")
        try await options.show(path, login, context, otherwise: missing)
    }
}

/// Does what `byteclub photos open NAME` asks for.
struct PhotosOpenCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open a photo's page in your browser.",
        discussion: """
            Without a browser here, prints the page's address.

            Example:
              byteclub photos open ridge.jpg
            """)

    @Argument(help: "The photo's name.", completion: .names)
    var name: String

    @OptionGroup var options: OpenOptions
    @OptionGroup var connection: ConnectionOptions

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        let path = try EntryPath.photo(name, login)
        let missing = try EntryPath.missing("photo", path.name(below: login.photos))
        try await options.show(path, login, context, otherwise: missing)
    }
}

/// How a page is shown.
struct OpenOptions: ParsableArguments {
    @Flag(help: "Print the page's address instead of opening it.")
    var print = false

    /// Shows the page of a note or a photo.
    ///
    /// - Throws: `missing` when nothing is there; ``Failure`` `noInput` for a folder, which has no page.
    func show(_ path: RemotePath, _ login: Login, _ context: Context, otherwise missing: Failure) async throws {
        let found = try await context.withRemote(login) { remote -> Metadata? in
            do {
                return try await remote.metadata(at: path)
            } catch let error as RemoteError where error.code == .notFound {
                return nil
            }
        }
        guard let found, !found.isDeleted else { throw missing }
        guard !found.isFolder else {
            throw Failure(.noInput, "'\(Failure.line(found.path.name))' is a folder, not a note or a photo")
        }
        try show(ClubPage.entry(found.path, at: login.server.origin), context)
    }

    /// Shows a page.
    func show(_ page: String, _ context: Context) throws {
        if !print, let browser = context.browser, browser.open(page) {
            return context.note("\(page) is open in your browser")
        }
        try context.output.line(page)
    }
}
