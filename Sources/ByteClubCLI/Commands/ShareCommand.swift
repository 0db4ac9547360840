import ArgumentParser
import ByteClubCore

/// The command `byteclub share PATH`, with `--list` and `--revoke`.
struct ShareCommand: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "share",
        abstract: "Create, list and revoke links for people without an account.",
        discussion: """
            A link follows its file or folder when that is renamed or moved. It ends at its time, with your \
            membership, or when revoked. Sharing a path again prints the same link. Owners see and revoke all links. \
            Photos are shared without their location and camera data unless --with-location is given; videos, and \
            photos other than JPEG and PNG, are shared only with it. Without a path, lists the links.

            Examples:
              byteclub share trip.md
              byteclub share photos --expires 30d --password
              byteclub share
              byteclub share --revoke 12
            """)

    @Argument(help: "A note, photo or folder in the shared folder, as in photos/ridge.jpg.", completion: .names)
    var path: String?

    @Option(
        help: ArgumentHelp("When the link expires: 30m, 12h, 7d, at most 366d; default: a week.", valueName: "time"),
        transform: TimeSpan.read)
    var expires: TimeSpan?

    @Flag(
        inversion: .prefixedNo,
        help: "Protect the link with a password, read at the terminal or from standard input; or remove it.")
    var password: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp("Keep location and camera data in photos, which is removed by default."))
    var withLocation: Bool?

    @Flag(help: "List the links: number, path, kind, creator and expiry.")
    var list = false

    @Option(help: ArgumentHelp("Revoke a link, given by number or URL, or all links to a path.", valueName: "link"))
    var revoke: String?

    @OptionGroup var options: RemoteOptions

    func validate() throws {
        let count = (path == nil ? 0 : 1) + (list ? 1 : 0) + (revoke == nil ? 0 : 1)
        guard count <= 1 else { throw ValidationError("PATH, --list and --revoke cannot be combined") }
        guard expires == nil || path != nil else { throw ValidationError("--expires requires a PATH") }
        guard password == nil && withLocation == nil || path != nil else {
            throw ValidationError("--password and --with-location require a PATH")
        }
        guard (expires?.seconds ?? 60) >= 60 else { throw ValidationError("--expires must be at least a minute") }
    }

    func run(in context: Context) async throws {
        let login = try context.login(flags: options.connection.settings)
        if let path {
            try await make(path, login, context)
        } else if let revoke {
            try await takeBack(revoke, login, context)
        } else {
            let links = try await context.withRemote(login) { try await Self.all(Self.managedLinks(of: $0)) }
            try context.print(LinkList(links: links, folder: login.folder), json: options.output.json)
        }
    }

    private func make(_ name: String, _ login: Login, _ context: Context) async throws {
        let path = try Self.path(name, login)
        let terms = LinkTerms(
            lifetime: expires?.seconds, password: try typedPassword(context), keepsLocation: withLocation)
        let link = try await context.withRemote(login) { remote in
            let powers = try await remote.powers()
            let links: (any LinkRemote)? = terms.isEmpty ? powers.links : powers.managedLinks
            guard let links else {
                throw terms.isEmpty ? Failure(.configuration, "this server does not support links") : Self.noLinks
            }
            do {
                return try await links.share(path, terms)
            } catch let error as RemoteError where error.code == .notFound {
                throw Failure(.noInput, "no note, photo or folder named '\(Failure.line(name))'")
            } catch let error as RemoteError where error.code == .forbidden {
                throw Failure(.notAuthorised, error.message)
            } catch let error as RemoteError where error.code == .undecodable {
                throw Failure(
                    .badData,
                    "'\(Failure.line(name))' may reveal where it was taken, and only JPEG and PNG photos can be shared "
                        + "without it; to share it anyway, use --with-location")
            }
        }
        // Older servers ignore parameters that they do not support.
        guard terms.password.map({ $0.isEmpty != link.hasPassword }) ?? true,
            withLocation ?? true || link.keepsLocation != nil
        else {
            throw Failure(
                .configuration,
                "this server has no passwords for links and keeps locations in photos, so \(link.url) is open; "
                    + "revoke it with 'byteclub share --revoke'")
        }
        if withLocation != true { noteOpenPlaces(in: path, link, context) }
        try context.print(MadeLink(url: link.url, expires: link.expires.rfc3339), json: options.output.json)
        let end = context.calendar(link.expires.seconds)
        if !options.output.json { context.note("anybody with this link can open it until \(end)") }
    }

    /// Warns when a link shares positions in the metadata of photos or videos.
    private func noteOpenPlaces(in path: RemotePath, _ link: SharedLink, _ context: Context) {
        let type = MediaType(name: path.name)
        if type.isText { return }
        let advice = "'byteclub share --revoke' revokes the link"
        if link.keepsLocation == nil {
            context.note("this server keeps locations in photos; \(advice)")
        } else if type.mayTellPlace {
            context.note("the location can be removed only from JPEG and PNG files, not from this one; \(advice)")
        }
    }

    /// The password for the link: nil for no change, empty to remove it.
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
            throw Failure(.badData, "a link's password must have 8 to 1024 bytes; no link was created")
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
                    // Another client has already removed it.
                }
            }
            return gone
        }
        guard !gone.isEmpty else {
            throw Failure(
                .noInput, "no link '\(Failure.line(text))' that you can revoke; see 'byteclub share --list'")
        }
        try context.print(LinksTakenBack(links: gone, folder: login.folder), json: options.output.json)
    }

    /// A path as typed: relative to the shared folder, or absolute on the server.
    private static func path(_ name: String, _ login: Login) throws -> RemotePath {
        // An empty name in a script is probably an unset variable, and would share the whole club.
        try EntryPath.parsed(
            name, in: login.folder, "path", ifEmpty: "it is empty; use '\(login.folder)' to share the whole club")
    }

    private static let noLinks = Failure(
        .configuration, "this server does not support listing, revoking or limiting links")

    private static func managedLinks(of remote: any Remote) async throws -> any ManagedLinkRemote {
        guard let links = try await remote.powers().managedLinks else { throw noLinks }
        return links
    }

    private static func all(_ remote: any ManagedLinkRemote) async throws -> [PublicLink] {
        try await LinkList.read { try await remote.links(before: $0) }
    }
}
