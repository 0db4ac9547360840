import ArgumentParser
import ByteClubCore

extension MembersCommand {
    /// The command `members role`.
    struct SetRole: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "role", abstract: "Change a member's role, effective within a second.")

        @Argument(help: "The member's name.")
        var name: String
        @Argument(help: "The role.")
        var role: Role
        @OptionGroup var data: DataOption

        func run() async throws {
            try await data.withStore { try await $0.setRole(role, ofMember: name) }
        }
    }

    /// The command `members password`.
    struct SetPassword: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "password",
            abstract: "Set the password with which a member signs in on the server's pages.",
            discussion: """
                Prompts for it twice at the terminal, or reads it from standard input. Browsers are signed out; \
                devices stay signed in until the member revokes them on the account page.
                """)

        @Argument(help: "The member's name.")
        var name: String
        @OptionGroup var data: DataOption

        func run() async throws {
            try await data.withStore { store in
                guard try await store.credentials(ofMember: name) != nil else { throw StorageError.noMember(name) }
                guard let password = HiddenLine.read("Password for \(name): ") else {
                    throw CommandFailure(.usage, "no password given")
                }
                if HiddenLine.isTyped, HiddenLine.read("Repeat password: ") != password {
                    throw CommandFailure(.data, "the passwords do not match; nothing was changed")
                }
                let hash = try await PasswordHash.make(password)
                _ = try await store.setPassword(hash, ofMember: name, replacing: .any, shuttingOutDevices: false)
            }
        }
    }

    /// The command `members reset`.
    struct ResetPassword: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset",
            abstract: "Print a link with which a member sets a new password in a browser, once.",
            discussion: """
                The link works for a day, or until the member gets another password. Browsers are signed out then; \
                devices stay signed in.
                """)

        @Argument(help: "The member's name.")
        var name: String
        @OptionGroup var data: DataOption
        @Option(help: "The server's address, as in https://club.example:8443.")
        var url: String?

        func run() async throws {
            let (link, owner) = try await data.withStore { store in
                guard let found = try await store.credentials(ofMember: name) else { throw StorageError.noMember(name) }
                let address = try Invite.address(given: url, known: try await store.publicURL())
                let reset = PasswordReset(
                    member: found.member.uid, maker: nil, expires: SystemTime.seconds() + PasswordReset.lifetime)
                let secret = reset.secret(replacing: found.password, key: store.signingKey)
                return (address.reset(secret), found.member.name)
            }
            StandardOutput.write(line: link)
            StandardError.write(
                line: "This link sets the password of \(owner). It works once, for a day: send it only to \(owner).")
        }
    }

    /// The command `members token`.
    struct Token: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a new access token for a member who lost theirs.",
            discussion: """
                Earlier tokens stay valid. If one was stolen, the member revokes it on the account page.
                """)

        @Argument(help: "The member's name.")
        var name: String
        @OptionGroup var data: DataOption

        func run() async throws {
            let (member, token, address) = try await data.withStore { store in
                guard let member = try await store.credentials(ofMember: name)?.member else {
                    throw StorageError.noMember(name)
                }
                let token = try await store.addDevice(member: member.uid, app: "", name: "")
                return (member, token, try await store.publicURL().flatMap { ClubAddress($0) })
            }
            StandardOutput.write(line: token)
            TokenAdvice.tell(member.name, role: member.role, address)
        }
    }
}

/// The advice beside a new token.
enum TokenAdvice {
    /// Prints whose token it is, how long it works, and how to use it.
    static func tell(_ name: String, role: Role, _ address: ClubAddress?) {
        StandardError.write(
            line: "This is the token of \(name), \(role.phrase). It is shown only once and valid until revoked: "
                + "\(name) runs 'byteclub login \(address?.login ?? "URL") --token-stdin' and pastes it.")
    }
}
