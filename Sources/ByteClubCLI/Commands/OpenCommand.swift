import ArgumentParser
import ByteClubCore
import ByteClubRemotes

/// The command `byteclub open [NAME]`.
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
        try await options.show(path, orFail: missing, login, context)
    }
}

/// The command `byteclub photos open NAME`.
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
        try await options.show(path, orFail: missing, login, context)
    }
}

/// Options of commands that open a page of the club.
struct OpenOptions: ParsableArguments {
    @Flag(help: "Print the page's address instead of opening it.")
    var print = false

    /// Shows the page of a note or photo.
    ///
    /// - Throws: `missing` when the server has none at the path; a ``Failure`` for a folder, which has no page.
    func show(_ path: RemotePath, orFail missing: Failure, _ login: Login, _ context: Context) async throws {
        let found = try await context.withRemote(login) { try await EntryRemoval.present(path, $0) }
        guard let found else { throw missing }
        if found.isFolder { throw EntryPath.folder("note or photo", found.path.name) }
        try show(ClubPage.entry(found.path, at: login.server.origin), context)
    }

    /// Shows a page.
    func show(_ page: String, _ context: Context) throws {
        if !print, let browser = context.browser, browser.open(page) {
            return context.note("opening \(page) in your browser")
        }
        try context.output.line(page)
    }
}
