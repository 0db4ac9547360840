import TestSupport
import Testing

extension EndToEnd {
    @Suite("Bad credentials and addresses") struct BadCredentialTests {
        private static let commands: [[String]] = [
            ["notes", "list"], ["notes", "show", "trip.md"], ["notes", "add", "new.md"], ["notes", "rm", "trip.md"],
            ["notes", "search", "trip"], ["photos", "list"], ["photos", "upload", Fixture.path("panoramas/city.jpg")],
            ["whoami"],
        ]

        @Test("a wrong token is one line and 77 for every command, and changes nothing")
        func wrongToken() async throws {
            let club = try await Club.start()
            #expect(try await club.api.put([1], "/byteclub/trip.md").status == 200)
            let before = try await club.api.fingerprint()
            let eve = MemberMachine("eve", in: club.folder.path)
            let settings = ["BYTECLUB_SERVER": club.server.url, "BYTECLUB_TOKEN": "not-the-token"]
            for command in Self.commands {
                expectRefusal(try await eve.start(command, environment: settings).result(), [77])
            }
            let sync = try await eve.start(["sync", eve.mirror, "--once"], environment: settings).result()
            expectRefusal(sync, [77])
            #expect(FileTree(eve.mirror).entries.isEmpty)
            expectRefusal(
                try await eve.byteclub("login", club.server.url, "--token-stdin", input: Array("wrong\n".utf8)), [77])
            expectRefusal(try await eve.byteclub("notes", "list"), [77, 78])
            #expect(try await club.api.fingerprint() == before)
        }

        @Test("a token that was removed stops working")
        func removedMember() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            #expect(try await ann.byteclub("notes", "list").status == 0)
            let removed = try await Program.run("byteclub", ["members", "remove", "ann", "--data", club.server.data])
            #expect(removed.status == 0, "\(removed)")
            // The server looks at the list of members again after half a second.
            try await eventually("the token stops working") { try await ann.byteclub("notes", "list").status != 0 }
            expectRefusal(try await ann.byteclub("notes", "list"), [77])
        }

        @Test("a server that is down is one line and 69 for every command")
        func serverDown() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            try LocalFiles.write("text\n", to: ann.mirror + "/a.md")
            try await expectSynced(ann)
            let mirror = FileTree(ann.mirror)
            await club.server.stop()
            for command in [["notes", "list"], ["notes", "show", "a.md"], ["sync", ann.mirror, "--once"]] {
                expectRefusal(try await ann.start(command).result(), [69])
            }
            let photo = try await ann.byteclub("photos", "upload", Fixture.path("panoramas/city.jpg"))
            expectRefusal(photo, [69], afterProgress: true)
            let login = try await ann.byteclub("login", club.server.url, "--token-stdin", input: Array("t\n".utf8))
            expectRefusal(login, [69])
            #expect(FileTree(ann.mirror) == mirror)
        }

        @Test("a password in the address, a strange scheme or no address is refused without the network")
        func badAddresses() async throws {
            let folder = try TemporaryDirectory()
            let eve = MemberMachine("eve", in: folder.path)
            for address in ["ftp://127.0.0.1", "http://", "::", "http://127.0.0.1:99999", ""] {
                let result = try await eve.byteclub("login", address, "--token-stdin", input: Array("t\n".utf8))
                #expect([64, 65, 69, 78].contains(result.status), "\(address): \(result)")
                #expect(!result.errorText.isEmpty)
            }
        }

        @Test("the token is stored for its owner alone and never shown")
        func tokenIsSecret() async throws {
            let club = try await Club.start()
            let token = try await club.server.addMember("ann")
            let ann = MemberMachine("ann", in: club.folder.path)
            let login = try await ann.byteclub(
                "login", club.server.url, "--token-stdin", input: Array((token + "\n").utf8))
            #expect(login.status == 0, "\(login)")
            let who = try await ann.byteclub("whoami")
            #expect(who.status == 0 && who.text.contains("ann"), "\(who)")
            #expect(!(login.text + login.errorText + who.text + who.errorText).contains(token))
            let find = try await Program.run(
                "/usr/bin/find", [ann.home, "-type", "f", "-perm", "/077", "-exec", "grep", "-l", token, "{}", ";"])
            #expect(find.lines.isEmpty, "others can read the token in \(find.lines)")
            let held = try await Program.run("/bin/grep", ["-rl", token, ann.home])
            #expect(held.lines.count == 1, "\(held)")
            let stored = try await Program.run("/bin/grep", ["-rla", token, club.server.data])
            #expect(stored.lines.isEmpty, "the server stores the token itself: \(stored)")
            await club.server.stop()
        }
    }
}
