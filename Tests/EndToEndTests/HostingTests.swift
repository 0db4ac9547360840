import TestSupport
import Testing

extension EndToEnd {
    @Suite("Hosting") struct HostingTests {
        /// Runs `byteclub members …` on a club's data.
        private static func members(_ words: String..., data: String) async throws -> ProgramResult {
            try await Program.run("byteclub", ["members"] + words + ["--data", data])
        }

        @Test("a new club's log has a link that makes its host the owner, until there is one")
        func firstOwner() async throws {
            let folder = try TemporaryDirectory()
            let server = try await ServerProcess(data: folder.path + "/data")
            let before = try #require(await server.stop())
            let link = try #require(before.errorText.firstMatch(of: /http:\S+\/invite\/[0-9a-f]{32}/)).output
            #expect(before.lines.count == 1, "\(before)")
            #expect(before.errorLines.contains(String(link)), "the link is alone on its line: \(before)")
            let invited = try await Self.members("invite", data: server.data)
            #expect(invited.status == 0 && invited.lines.count == 1, "\(invited)")
            #expect(invited.errorText.contains("becomes an owner, since the club has none yet"), "\(invited)")
            let viewer = try await Self.members("invite", "--role", "viewer", data: server.data)
            #expect(viewer.status == 65 && viewer.output.isEmpty && viewer.errorLines.count == 1, "\(viewer)")
            let editor = try await Self.members("add", "ed", "--role", "editor", data: server.data)
            #expect(editor.status == 65 && editor.output.isEmpty && editor.errorLines.count == 1, "\(editor)")
            try await server.start()
            let page = await RawExchange.send("GET \(link.dropFirst(server.url.utf8.count))", port: server.port)
            #expect(page?.status == 200 && page?.text.contains("owner") == true)
            let open = try await Self.members("invitations", data: server.data)
            #expect(open.lines.count == 2, "the log's and the one of the command: \(open)")
            _ = try await server.addMember("hana")
            let used = await RawExchange.send("GET \(link.dropFirst(server.url.utf8.count))", port: server.port)
            #expect(used?.status == 404)
            let again = try await Self.members("invite", data: server.data)
            #expect(again.errorText.contains("becomes an editor."), "\(again)")
            await server.stop()
            try await server.start()
            let after = try #require(await server.stop())
            #expect(!after.errorText.contains("/invite/"), "\(after)")
        }

        @Test("the last owner stays, or goes by force when nobody else is left")
        func lastOwner() async throws {
            let data = try TemporaryDirectory()
            #expect(try await Self.members("add", "hana", data: data.path).status == 0)
            let alone = try await Self.members("remove", "hana", data: data.path)
            #expect(alone.status == 65 && alone.errorText.contains("--force"), "\(alone)")
            #expect(try await Self.members("add", "bo", data: data.path).status == 0)
            for words in [["remove", "hana"], ["remove", "hana", "--force"], ["role", "hana", "viewer"]] {
                let refused = try await Program.run("byteclub", ["members"] + words + ["--data", data.path])
                #expect(refused.status == 65 && refused.errorText.contains("last owner"), "\(refused)")
            }
            #expect(try await Self.members("remove", "bo", data: data.path).status == 0)
            #expect(try await Self.members("remove", "hana", "--force", data: data.path).status == 0)
            let list = try await Self.members("list", data: data.path)
            #expect(list.status == 0 && list.output.isEmpty, "\(list)")
        }

        @Test("an invitation link never leads to a wildcard address")
        func wildcard() async throws {
            let folder = try TemporaryDirectory()
            let data = folder.path + "/data"
            let serve = try Program.start(
                "byteclub", ["serve", "--data", data, "--listen", "0.0.0.0:0", "--insecure-http"])
            #expect(await serve.line { $0.hasPrefix("listening on http://0.0.0.0:") } != nil)
            let refused = try await Self.members("invite", data: data)
            #expect(refused.status == 78 && refused.output.isEmpty && refused.errorLines.count == 1, "\(refused)")
            #expect(refused.errorText.contains("--url") && refused.errorText.contains("--public-url"), "\(refused)")
            let told = try await Self.members("invite", "--url", "https://club.example:8443", data: data)
            #expect(told.text.hasPrefix("https://club.example:8443/invite/"), "\(told)")
            serve.kill9()
            let end = await serve.result()
            #expect(end.errorText.contains("--public-url") && !end.errorText.contains("/invite/"), "\(end)")
        }

        @Test("commands about members tell what was wrong by their exit codes, and make no club of a mistyped folder")
        func exitCodes() async throws {
            let folder = try TemporaryDirectory()
            let (data, typo) = (folder.path + "/data", folder.path + "/tpyo")
            #expect(try await Self.members("add", "hana", data: data).status == 0)
            let cases: [([String], Int32)] = [
                (["add", "Hana"], 73), (["add", "../x"], 65), (["remove", "bo"], 66), (["role", "bo", "viewer"], 66),
                (["token", "bo"], 66), (["password", "bo"], 66), (["reset", "bo"], 66), (["uninvite", "00000000"], 66),
            ]
            for (words, status) in cases {
                let result = try await Program.run("byteclub", ["members"] + words + ["--data", data])
                #expect(result.status == status && result.errorLines.count == 1, "\(words): \(result)")
            }
            for words in [
                ["members", "list"], ["members", "remove", "hana"], ["members", "invitations"],
                ["members", "invite", "--url", "https://a.example"], ["members", "token", "hana"], ["apps", "list"],
                ["verify"],
            ] {
                let result = try await Program.run("byteclub", words + ["--data", typo])
                #expect(result.status == 66 && result.errorLines.count == 1, "\(words): \(result)")
                #expect(!LocalFiles.exists(typo), "\(words)")
            }
        }

        @Test("a member who lost the token gets a new one, and an open invitation is listed and taken back")
        func tokenAndInvitations() async throws {
            let club = try await Club.start()
            let lost = try await club.server.addMember("ada")
            let found = try await Self.members("token", "ada", data: club.server.data)
            #expect(found.status == 0 && found.lines.count == 1 && found.errorLines.count == 1, "\(found)")
            #expect(found.errorText.contains("ada, an editor"), "\(found)")
            #expect(found.errorText.contains("login \(club.server.url) "), "\(found)")
            let ada = club.machine("ada")
            for token in [lost, try #require(found.lines.first)] {
                let login = try await ada.byteclub(
                    "login", club.server.url, "--token-stdin", input: Array((token + "\n").utf8))
                #expect(login.status == 0, "\(login)")
            }
            #expect(try await ada.byteclub("logout").status == 0)
            for (token, status) in [(lost, Int32(0)), (try #require(found.lines.first), 77)] {
                let who = try await ada.byteclub(
                    "whoami", environment: ["BYTECLUB_SERVER": club.server.url, "BYTECLUB_TOKEN": token])
                #expect(who.status == status, "\(who)")
            }
            let withdrawn = try await Self.members("invite", data: club.server.data)
            let command = try #require(withdrawn.errorLines.last).split(separator: " ").map(String.init)
            #expect(command.starts(with: ["byteclub", "members", "uninvite"]), "\(withdrawn)")
            #expect(try await Program.run("byteclub", Array(command.dropFirst())).status == 0, "\(withdrawn)")
            #expect(try await Self.members("invitations", data: club.server.data).output.isEmpty)
            let invited = try await Self.members("invite", "--role", "viewer", "--days", "3", data: club.server.data)
            #expect(invited.errorText.contains("a viewer") && invited.errorText.contains("3 days"), "\(invited)")
            let list = try await Self.members("invitations", data: club.server.data)
            let row = try #require(list.lines.first).split(separator: "\t")
            #expect(list.lines.count == 1 && row.count >= 3 && row[1] == "viewer", "\(list)")
            let taken = try await Self.members("uninvite", String(try #require(row.first)), data: club.server.data)
            #expect(taken.status == 0, "\(taken)")
            #expect(try await Self.members("invitations", data: club.server.data).output.isEmpty)
            let link = String(try #require(invited.lines.first).dropFirst(club.server.url.utf8.count))
            #expect(await RawExchange.send("GET \(link)", port: club.server.port)?.status == 404)
        }

        @Test("a club that is served with a name shows it on pages and in programs, and one of blanks shows none")
        func clubName() async throws {
            let folder = try TemporaryDirectory()
            let server = try await ServerProcess(data: folder.path + "/data", arguments: ["--name", " Panorama Club "])
            let token = try await server.addMember("ada")
            let ada = MemberMachine("ada", in: folder.path)
            let login = try await ada.byteclub("login", server.url, "--token-stdin", input: Array(token.utf8))
            #expect(login.text == "signed in to Panorama Club (\(server.url)) as ada\n", "\(login)")
            let who = try await ada.byteclub("whoami")
            #expect(who.text.hasPrefix("ada (owner) of Panorama Club at \(server.url), "), "\(who)")
            let json = try JSONValue.parse(try await ada.byteclub("whoami", "--json").output)
            #expect(json["club"]?.text == "Panorama Club")
            let doctor = try await ada.byteclub("doctor")
            #expect(doctor.text.contains("you are ada of Panorama Club;"), "\(doctor)")
            let page = await RawExchange.send("GET /login", port: server.port)
            #expect(page?.text.contains("<title>Sign in to Panorama Club</title>") == true)
            await server.stop()
            let bad = try await Program.run("byteclub", ["serve", "--data", server.data, "--name", "a\u{1B}[2J"])
            #expect(bad.status == 64 && bad.errorLines.count == 1 && bad.errorText.contains("--name"), "\(bad)")
            let unnamed = try await ServerProcess(data: server.data, arguments: ["--name", "  "])
            let other = try await ada.byteclub(
                "whoami", "--server", unnamed.url, environment: ["BYTECLUB_TOKEN": token])
            #expect(other.text.hasPrefix("ada (owner) at "), "\(other)")
        }

        @Test("a backup is made and checked by the one program")
        func backup() async throws {
            let club = try await Club.start()
            let copy = club.folder.path + "/copy"
            let made = try await Program.run("byteclub", ["backup", "--data", club.server.data, copy])
            #expect(made.status == 0, "\(made)")
            let checked = try await Program.run("byteclub", ["verify", "--data", copy])
            #expect(checked.status == 0 && checked.text.hasPrefix("clean"), "\(checked)")
        }

        @Test("a port that is taken is told in one line with the address")
        func takenPort() async throws {
            let club = try await Club.start()
            let data = club.folder.path + "/other"
            let address = "127.0.0.1:\(club.server.port)"
            for listen in [["--listen", address], ["--listen", "127.0.0.1:0", "--metrics-listen", address]] {
                let result = try await Program.run("byteclub", ["serve", "--data", data] + listen)
                #expect(result.status == 69, "\(result)")
                let line = "byteclub: cannot listen on '\(address)': the port is in use by another program"
                #expect(result.errorLines.last == line, "\(result)")
            }
        }
    }
}
