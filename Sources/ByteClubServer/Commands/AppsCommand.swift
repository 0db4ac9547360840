import ArgumentParser
import ByteClubCore

/// `apps`: the programs that may ask members for access by OAuth.
struct AppsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps", abstract: "Register, list and remove programs that ask members for access.",
        discussion: "ByteClub's own command line needs no registration.",
        subcommands: [Add.self, List.self, Remove.self])

    /// The command `apps add`.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Register a program and print its key and secret.")

        @Argument(help: "The name shown to members.")
        var name: String
        @Option(help: ArgumentHelp("Allowed redirect URL; repeat for several.", valueName: "url"))
        var redirect: [String] = []
        @OptionGroup var data: DataOption
        @Flag(help: "Print an object with name, key, secret and redirects.")
        var json = false

        func run() async throws {
            for url in redirect where !App.mayRegister(redirect: url) {
                throw CommandFailure(
                    .data, "'\(url)' is not a valid redirect: give https://… without #, or http:// on loopback")
            }
            guard !name.isEmpty, name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), name.utf8.count <= 255 else {
                throw CommandFailure(.data, "an app's name must have 1 to 255 bytes and no control characters")
            }
            let app = try await data.withStore { try await $0.addApp(name: name, redirects: redirect) }
            if json { return StandardOutput.write(json: app.json()) }
            StandardOutput.write(line: "app_key=\(app.key)")
            StandardOutput.write(line: "app_secret=\(app.secret ?? "")")
        }
    }

    /// The command `apps list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the registered programs.")

        @OptionGroup var data: DataOption
        @Flag(help: "Print an array of objects with name, key and redirects.")
        var json = false

        func run() async throws {
            let apps = try await data.withStore { try await $0.apps() }
            if json {
                let known = apps.map { App(key: $0.key, secret: nil, name: $0.name, redirects: $0.redirects) }
                return StandardOutput.write(json: known.json())
            }
            var table = TextTable(
                .init("KEY"), .init("NAME", isShortened: true), .init("REDIRECTS", isShortened: true, rank: 1))
            table.rows = apps.map { [$0.key, $0.name, $0.redirects.joined(separator: " ")] }
            StandardOutput.write(table)
        }
    }

    /// The command `apps remove`.
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a program, and revoke all its tokens within a second.")

        @Argument(help: "The program's key.")
        var key: String
        @OptionGroup var data: DataOption

        func run() async throws {
            guard try await data.withStore({ try await $0.removeApp(key: key) }) else {
                throw CommandFailure(.noInput, "no app with the key '\(key)'; see '\(RootCommand.title) apps list'")
            }
        }
    }
}

extension App: JSONObjectWritable {
    func writeMembers(to json: inout JSONText) {
        json.member("name", name)
        json.member("key", key)
        json.member("secret", secret)
        json.member("redirects", redirects)
    }
}
