import ArgumentParser
import ByteClubCore
import ByteClubRemotes

/// Does what `byteclub open [NAME]` asks for.
struct OpenCommand: PageCommand {
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

    func path(_ login: Login) throws -> RemotePath? { try name.map { try EntryPath.entry($0, login) } }

    func missing(_ path: RemotePath, _ login: Login) throws -> Failure {
        Failure(
            .noInput,
            "no note or photo named '\(Failure.line(path.name(below: login.folder)))'; photos are named like "
                + "'photos/ridge.jpg'")
    }
}

/// Does what `byteclub photos open NAME` asks for.
struct PhotosOpenCommand: PageCommand {
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

    func path(_ login: Login) throws -> RemotePath? { try EntryPath.photo(name, login) }

    func missing(_ path: RemotePath, _ login: Login) throws -> Failure {
        try EntryPath.missing("photo", path.name(below: login.photos))
    }
}

/// A command that shows a page of the club.
protocol PageCommand: ClubCommand {
    var options: OpenOptions { get }
    var connection: ConnectionOptions { get }

    /// The note or the photo whose page is wanted; nil for the club's own.
    func path(_ login: Login) throws -> RemotePath?

    /// The refusal when nothing is there.
    func missing(_ path: RemotePath, _ login: Login) throws -> Failure
}

extension PageCommand {
    /// Shows the page.
    ///
    /// - Throws: What ``missing(_:_:)`` tells; ``Failure`` `badData` for a folder, which has no page.
    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        guard let path = try path(login) else {
            return try options.show(ClubPage.gallery(at: login.server.origin), context)
        }
        let found = try await context.withRemote(login) { try await EntryRemoval.present(path, $0) }
        guard let found else { throw try missing(path, login) }
        guard !found.isFolder else {
            throw Failure(.badData, "'\(Failure.line(found.path.name))' is a folder, not a note or photo")
        }
        try options.show(ClubPage.entry(found.path, at: login.server.origin), context)
    }
}

/// How a page is shown.
struct OpenOptions: ParsableArguments {
    @Flag(help: "Print the page's address instead of opening it.")
    var print = false

    /// Shows a page.
    func show(_ page: String, _ context: Context) throws {
        if !print, let browser = context.browser, browser.open(page) {
            return context.note("opening \(page) in your browser")
        }
        try context.output.line(page)
    }
}
