import ArgumentParser
import ByteClubCore

extension MembersCommand {
    /// The command `members invite`.
    struct Invite: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create an invitation: a link by which one person can join, once.",
            discussion: """
                As long as the club has no owner, the first person to use the link becomes the owner, and all other \
                such links expire. Links start with the server's --public-url, or with the address where it was last \
                started.
                """)

        @OptionGroup var data: DataOption
        @Option(
            help: ArgumentHelp(
                "The new member's role: owner, editor or viewer. (default: editor; owner if there is none)"))
        var role: Role?
        @Option(help: "The link works for this many days, 1 to 365.")
        var days: Int64 = Invitation.lifetime / 86_400
        @Option(help: "The server's address, as in https://club.example:8443.")
        var url: String?

        func run() async throws {
            guard (1...365).contains(days) else { throw CommandFailure(.usage, "--days must be 1 to 365") }
            let (address, secret, given, club) = try await data.withStore { store in
                let address = try Self.address(given: url, known: try await store.publicURL())
                let lifetime = days * 86_400
                if let role, role < .owner, try await !store.hasOwner() {
                    throw CommandFailure(.data, "the club has no owner yet; invite its owner first, without --role")
                }
                let first = try await store.addOwnerInvitation(lifetime: lifetime) { _ in Secret.text(bytes: 16) }
                if let first {
                    return (address, first.secret, Role.owner, store.clubName)
                }
                let given = role ?? .editor
                let secret = try await store.addInvitation(role: given, lifetime: lifetime, by: Invitation.byHost)
                return (address, secret, given, store.clubName)
            }
            StandardOutput.write(line: address.invitation(secret))
            let become = given.phrase + (club.map { " of \($0)" } ?? "")
            let why = role == nil && given == .owner ? ", since the club has none yet" : ""
            StandardError.write(
                line: "Whoever joins with this link becomes \(become)\(why). It works once, for \(days) days: send it "
                    + "to one person. To revoke it:")
            let id = OpenInvitation.id(Secret.hash(secret))
            StandardError.write(line: "  byteclub members uninvite \(id) --data \(ShellWord.quoted(data.data))")
        }

        /// Where the links begin.
        static func address(given: String?, known: String?) throws(CommandFailure) -> ClubAddress {
            guard let text = given ?? known else {
                throw CommandFailure(.configuration, "the server never ran here, so its address is unknown; give --url")
            }
            // The key is that with which the server ran last, wherever it is reached.
            guard let address = ClubAddress(text, pin: known.flatMap { ClubAddress.parts(of: $0).pin }) else {
                let advice =
                    given == nil
                    ? "give --url, or start the server with --public-url"
                    : "write a URL as in https://club.example:8443"
                throw CommandFailure(
                    given == nil ? .configuration : .usage,
                    "others cannot open a link to '\(ClubAddress.parts(of: text).url)'; \(advice)")
            }
            return address
        }
    }

    /// The command `members invitations`.
    struct ListInvitations: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "invitations",
            abstract: "List unused invitations: ID, role, expiry and inviter.")

        @OptionGroup var data: DataOption
        @Flag(help: "Print an array of objects with id, role, expires and inviter.")
        var json = false

        func run() async throws {
            let invitations = try await data.withStore { try await $0.invitations() }
            if json { return StandardOutput.write(json: invitations.json()) }
            var table = TextTable(
                .init("ID"), .init("ROLE"), .init("UNTIL", rank: 1), .init("BY", isShortened: true, rank: 2))
            table.rows = invitations.map {
                let until = StandardOutput.shown($0.invitation.expires)
                return [$0.id, $0.invitation.role.word, until, $0.inviter ?? ""]
            }
            StandardOutput.write(table)
        }
    }

    /// The command `members uninvite`.
    struct Uninvite: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke an unused invitation.")

        @Argument(help: "The ID that 'members invitations' shows.")
        var id: String
        @OptionGroup var data: DataOption

        func run() async throws {
            guard try await data.withStore({ try await $0.removeInvitation(id: id.lowercased()) }) else {
                throw CommandFailure(.noInput, "no invitation '\(id)'; see '\(RootCommand.title) members invitations'")
            }
        }
    }
}

extension OpenInvitation: JSONObjectWritable {
    func writeMembers(to json: inout JSONText) {
        json.member("id", id)
        json.member("role", invitation.role.word)
        json.member("expires", invitation.expires.rfc3339)
        json.member("inviter", inviter)
    }
}
