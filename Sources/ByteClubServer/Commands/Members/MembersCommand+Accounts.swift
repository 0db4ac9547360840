import ArgumentParser
import ByteClubCore

extension MembersCommand {
    /// The command `members invite`.
    struct Invite: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a link with which one person can join, once.")

        @OptionGroup var data: DataOption
        @Option(help: "What the new member may do: owner, editor or viewer.")
        var role = Role.editor
        @Option(help: "For how many days the link works, 1 to 365.")
        var days: Int64 = Invitation.lifetime / 86_400
        @Option(help: "The server's address; the one where it was last started unless given.")
        var url: String?

        func run() async throws {
            guard (1...365).contains(days) else { throw CommandFailure(.usage, "--days is 1 to 365") }
            let store = try data.open()
            let known = try await store.publicURL()
            guard let base = url ?? known else {
                throw CommandFailure(.configuration, "the server never ran here, so its address is unknown; give --url")
            }
            let secret = try await store.addInvitation(role: role, lifetime: days * 86_400, by: 0)
            try store.close()
            let slash = base.hasSuffix("/") ? "" : "/"
            StandardOutput.write(line: "\(base)\(slash)invite/\(secret)")
        }
    }

    /// The command `members role`.
    struct SetRole: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "role", abstract: "Change what a member may do; it holds within a second.")

        @Argument(help: "The member's name.")
        var name: String
        @Argument(help: "The role.")
        var role: Role
        @OptionGroup var data: DataOption

        func run() async throws {
            let store = try data.open()
            try await store.setRole(role, ofMember: name)
            try store.close()
        }
    }

    /// The command `members password`.
    struct SetPassword: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "password",
            abstract: "Set the password with which a member signs in on the server's pages.",
            discussion: """
                It is asked for at the terminal, or read from standard input. Browsers are signed out; devices stay \
                signed in until the member shuts them out on the account's page.
                """)

        @Argument(help: "The member's name.")
        var name: String
        @OptionGroup var data: DataOption

        func run() async throws {
            let store = try data.open()
            guard try await store.credentials(ofMember: name) != nil else {
                throw StorageError(.badMember, "there is no member '\(name)'")
            }
            guard let password = HiddenLine.read("Password for \(name): ") else {
                throw CommandFailure(.data, "no password was given")
            }
            try await store.setPassword(try await PasswordHash.make(password), ofMember: name)
            try store.close()
        }
    }
}
