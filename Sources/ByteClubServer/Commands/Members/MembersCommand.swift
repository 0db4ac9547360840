import ArgumentParser
import ByteClubCore

/// `members`: the members of the club; works whether or not the server runs.
struct MembersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "members", abstract: "Invite, add, list and remove the members of a club.",
        subcommands: [
            Invite.self, ListInvitations.self, Uninvite.self, Add.self, List.self, Remove.self, SetRole.self,
            SetPassword.self, ResetPassword.self, Token.self,
        ])

    /// The command `members add`.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a member and print the access token, which is shown only once.",
            discussion: "Creates the directory if it is missing. The first member owns the club, others are editors.")

        @Argument(help: "The member's name.")
        var name: String
        @OptionGroup var data: DataOption
        @Option(help: "Another role for the member.")
        var role: Role?
        @Flag(help: "Print an object with name, token and uid.")
        var json = false
        @Flag(help: "Also create keys for programs that use OAuth 1.0.")
        var oauth1 = false

        func run() async throws {
            let unowned = CommandFailure(.data, "the club has no owner yet; add its owner first, without --role")
            // A refused command must not create a club.
            if let role, role < .owner, !DataDirectory(path: data.data).holdsClub { throw unowned }
            let (member, address) = try await data.withStore(making: true) { store in
                if let role, role < .owner, try await !store.hasOwner() { throw unowned }
                let member = try await store.addMember(name: name, role: role, oauth1: oauth1)
                return (member, try await store.publicURL().flatMap { ClubAddress($0) })
            }
            if json { return StandardOutput.write(json: member.json()) }
            StandardOutput.write(line: member.token)
            TokenAdvice.tell(member.name, role: member.role, address)
            if let keys = member.oauth1 {
                StandardOutput.write(line: "oauth_consumer_key=\(keys.consumerKey)")
                StandardOutput.write(line: "oauth_consumer_secret=\(keys.consumerSecret)")
                StandardOutput.write(line: "oauth_token=\(keys.token)")
                StandardOutput.write(line: "oauth_token_secret=\(keys.tokenSecret)")
            }
        }
    }

    /// The command `members list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the members.")

        @OptionGroup var data: DataOption
        @Flag(help: "Print an array of objects with name, uid, role and created.")
        var json = false

        func run() async throws {
            let members = try await data.withStore { try await $0.members().filter { !$0.isDisabled } }
            if json { return StandardOutput.write(json: members.json()) }
            var table = TextTable(
                .init("NUMBER", .right), .init("NAME", isShortened: true), .init("ROLE"), .init("SINCE", rank: 1))
            table.rows = members.map {
                [String($0.uid), $0.name, $0.role.word, StandardOutput.shown($0.created)]
            }
            StandardOutput.write(table)
        }
    }

    /// The command `members remove`.
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a member: access ends within a second, the member's content stays.",
            discussion: "The last owner cannot be removed while there are other members.")

        @Argument(help: "The member's name.")
        var name: String
        @OptionGroup var data: DataOption
        @Flag(help: "Remove even the only member: the club has no owner then.")
        var force = false

        func run() async throws {
            try await data.withStore { store in
                if !force, let member = try await store.credentials(ofMember: name)?.member {
                    let others = try await store.members().contains { !$0.isDisabled && $0.uid != member.uid }
                    if !others, member.role == .owner {
                        throw CommandFailure(
                            .data, "'\(name)' is the last owner and the only member; use --force to remove them anyway")
                    }
                }
                try await store.removeMember(name: name, evenTheLast: force)
            }
        }
    }
}

extension Role: ExpressibleByArgument {
    init?(argument: String) { self.init(word: argument) }

    static var allValueStrings: [String] { allCases.map(\.word) }
}

extension Member: JSONObjectWritable {
    func writeMembers(to json: inout JSONText) {
        json.member("name", name)
        json.member("uid", uid)
        json.member("role", role.word)
        json.member("created", created.rfc3339)
    }
}

extension NewMember: JSONObjectWritable {
    func writeMembers(to json: inout JSONText) {
        json.member("name", name)
        json.member("token", token)
        json.member("uid", uid)
        json.member("oauth_consumer_key", oauth1?.consumerKey)
        json.member("oauth_consumer_secret", oauth1?.consumerSecret)
        json.member("oauth_token", oauth1?.token)
        json.member("oauth_token_secret", oauth1?.tokenSecret)
    }
}
