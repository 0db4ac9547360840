import ArgumentParser
import ByteClubCore

/// Does what `byteclub share PATH`, `--list` and `--revoke` ask for.
struct ShareCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "share",
        abstract: "Create, list and revoke links for people without an account.",
        discussion: """
            A link goes with its file or folder, also when that is renamed or moved, and ends at its time, with your \
            membership, or when it is taken back. Asking again gives the same link. Owners see and take back all links. \
            Photos are given without what they tell of places and cameras unless you say --with-location; films, and \
            photos that are neither JPEG nor PNG, are given only then. Without a path it lists the links.

            Examples:
              byteclub share trip.md
              byteclub share photos --expires 30d --password
              byteclub share
              byteclub share --revoke 12
            """)

    @Argument(help: "A note, photo or folder in the shared folder, as in photos/ridge.jpg.", completion: .names)
    var path: String?

    @Option(
        help: ArgumentHelp("When the link ends: 30m, 12h, 7d, at most 366d; a week unless told.", valueName: "time"),
        transform: TimeSpan.read)
    var expires: TimeSpan?

    @Flag(
        inversion: .prefixedNo,
        help: "Ask for a password that opens the link, at the terminal or as standard input; or take it away.")
    var password: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp("Leave in photos what they tell of places and of cameras, which goes unless told."))
    var withLocation: Bool?

    @Flag(help: "List the links: number, path, kind, who made it, and when it ends.")
    var list = false

    @Option(help: ArgumentHelp("Take a link back, by its number or itself, or all to a path.", valueName: "link"))
    var revoke: String?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var outputOptions: OutputOptions

    func validate() throws {
        let count = (path == nil ? 0 : 1) + (list ? 1 : 0) + (revoke == nil ? 0 : 1)
        guard count <= 1 else { throw ValidationError("name one of a PATH, --list and --revoke") }
        guard expires == nil || path != nil else { throw ValidationError("--expires goes with a PATH") }
        guard password == nil && withLocation == nil || path != nil else {
            throw ValidationError("--password and --with-location go with a PATH")
        }
        guard (expires?.seconds ?? 60) >= 60 else { throw ValidationError("--expires must be a minute or more") }
    }

    func run(in context: Context) async throws {
        let login = try context.login(flags: connection.settings)
        if let path {
            try await make(path, login, context)
        } else if let revoke {
            try await takeBack(revoke, login, context)
        } else {
            let links = try await context.withRemote(login) { try await Self.all(Self.managedLinks(of: $0)) }
            try context.print(LinkList(links: links, folder: login.folder), json: outputOptions.json)
        }
    }

    private func make(_ name: String, _ login: Login, _ context: Context) async throws {
        let path = try Self.path(name, login)
        let terms = LinkTerms(
            lifetime: expires?.seconds, password: try typedPassword(context), keepsLocation: withLocation)
        let link = try await context.withRemote(login) { remote in
            let powers = try await remote.powers()
            let links: (any LinkRemote)? = terms.isEmpty ? powers.links : powers.managedLinks
            guard let links else { throw Self.noLinks }
            do {
                return try await links.share(path, terms)
            } catch let error as RemoteError where error.code == .notFound {
                throw Failure(.noInput, "there is nothing at '\(Failure.line(name))'")
            } catch let error as RemoteError where error.code == .forbidden {
                throw Failure(.notAuthorised, error.message)
            } catch let error as RemoteError where error.code == .undecodable {
                throw Failure(
                    .badData,
                    "'\(Failure.line(name))' may tell where it was made, and only JPEG and PNG photos can be given "
                        + "without that; if people may know, say --with-location")
            }
        }
        // An older server takes no notice of what it does not know.
        guard terms.password.map({ $0.isEmpty != link.hasPassword }) ?? true,
            withLocation ?? true || link.keepsLocation != nil
        else {
            throw Failure(
                .configuration,
                "this server knows no passwords for links and leaves places in photos, so \(link.url) is open; "
                    + "take it back with 'byteclub share --revoke'")
        }
        if withLocation != true { noteOpenPlaces(in: path, link, context) }
        try context.print(MadeLink(link: link), json: outputOptions.json)
        let end = context.calendar(link.expires.seconds)
        if !outputOptions.json { context.note("whoever has this link needs no account, until \(end)") }
    }

    /// Says so where a link gives what a photo or film tells of places.
    private func noteOpenPlaces(in path: RemotePath, _ link: SharedLink, _ context: Context) {
        let type = MediaType(name: path.name)
        if type.isText { return }
        let advice = "'byteclub share --revoke' takes the link back"
        if link.keepsLocation == nil {
            context.note("this server leaves places in photos; \(advice)")
        } else if type.mayTellPlace {
            context.note("only JPEG and PNG files lose what they tell of places, this one does not; \(advice)")
        }
    }

    /// The password for the link: nil when nothing was said of one, empty when there is to be none.
    private func typedPassword(_ context: Context) throws -> String? {
        guard let password else { return nil }
        guard password else { return "" }
        let text: String
        if context.terminal.isInputTerminal {
            text = try context.input.readSecret("Password for the link: ")
        } else {
            text = String(decoding: try context.input.readAll(2048), as: UTF8.self)
        }
        let line = text.prefix { !$0.isNewline }
        guard (8...1024).contains(line.utf8.count) else {
            throw Failure(.badData, "a link's password has 8 to 1024 bytes; no link was made")
        }
        return String(line)
    }

    private func takeBack(_ text: String, _ login: Login, _ context: Context) async throws {
        let gone = try await context.withRemote(login) { remote in
            let remote = try await Self.managedLinks(of: remote)
            let links = LinkChoice(text, path: try? Self.path(text, login)).chosen(from: try await Self.all(remote))
            var gone: [PublicLink] = []
            for link in links {
                do {
                    try await remote.revokeLink(link.id)
                    gone.append(link)
                } catch let error as RemoteError where error.code == .notFound {
                    // Somebody else was quicker.
                }
            }
            return gone
        }
        guard !gone.isEmpty else {
            throw Failure(
                .noInput, "you can take back no link '\(Failure.line(text))'; see 'byteclub share --list'")
        }
        try context.print(LinksTakenBack(links: gone, folder: login.folder), json: outputOptions.json)
    }

    /// A path as people name it: in the shared folder, or from the server's root when it begins with a slash.
    private static func path(_ name: String, _ login: Login) throws -> RemotePath {
        do {
            // In a script it may be what was never set, and stands for all that the club has.
            if name.isEmpty { throw PathError("it is empty; '\(login.folder)' is all that the club has") }
            return try RemotePath(name.hasPrefix("/") ? name : login.folder.string + "/" + name)
        } catch let error as PathError {
            throw Failure(
                .badData, "'\(DisplayWidth.shortened(Failure.line(name), to: 40))' cannot be a path: \(error.message)")
        }
    }

    private static let noLinks = Failure(
        .configuration, "this server cannot list links, take them back or have them end when you say")

    private static func managedLinks(of remote: any Remote) async throws -> any ManagedLinkRemote {
        guard let links = try await remote.powers().managedLinks else { throw noLinks }
        return links
    }

    private static func all(_ remote: any ManagedLinkRemote) async throws -> [PublicLink] {
        try await LinkList.read { try await remote.links(before: $0) }
    }
}
