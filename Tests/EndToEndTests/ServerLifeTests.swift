import ByteClubCore
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("The server's life") struct ServerLifeTests {
        @Test("SIGTERM lets an upload end, then the server ends with 0")
        func drain() async throws {
            let club = try await Club.start()
            let photo = Fixture.path("panoramas/forest.jpg")
            // One request, where the program would send pieces, whose next one finds the server gone.
            let upload = try Program.start(
                "/usr/bin/env",
                [
                    "curl", "-sSv", "--fail", "--limit-rate", "30K", "-T", photo, "-H",
                    "Authorization: Bearer \(club.api.token)",
                    club.server.url + "/1/files_put/auto/byteclub/photos/forest.jpg",
                ])
            let line = await upload.line(of: .errors) { $0.contains("> PUT") }
            #expect(line != nil)
            try await ContinuousClock().sleep(for: .milliseconds(500))
            #expect(!upload.hasEnded, "the upload is too fast for this test")
            let server = try #require(club.server.process)
            server.send(SIGTERM)
            let sent = await upload.result()
            #expect(sent.status == 0, "\(sent)")
            let port = club.server.port
            let result = try #require(await club.server.stop())
            #expect(result.status == 0 && result.signal == nil, "\(result)")
            #expect(result.lines == ["listening on http://127.0.0.1:\(port)"], "\(result)")
            try await club.server.start()
            let api = try ClubAPI(server: club.server, token: club.api.token)
            #expect(try await api.get("/byteclub/photos/forest.jpg").bytes == Fixture.bytes("panoramas/forest.jpg"))
        }

        @Test("a server that was stopped starts without a word about it, and one that was killed checks its database")
        func cleanStop() async throws {
            let club = try await Club.start()
            let notice = "did not stop cleanly"
            #expect(try await club.api.put([1], "/byteclub/a.md").status == 200)
            let first = try #require(await club.server.stop())
            #expect(first.status == 0 && !first.errorText.contains(notice), "\(first)")
            let log = club.server.data + "/byteclub.sqlite-wal"
            #expect(!LocalFiles.exists(log) || Fixture.bytes(at: log).isEmpty, "the database file alone is all of it")
            // What others do to the data meanwhile is no crash of the server.
            _ = try await club.server.addMember("ben")
            try await club.server.start()
            let taken = try await Program.run(
                "byteclub-server", ["--data", club.folder.path + "/other", "--listen", "127.0.0.1:\(club.server.port)"])
            #expect(taken.status == 69, "\(taken)")
            let second = try #require(await club.server.kill9())
            #expect(!second.errorText.contains(notice), "\(second)")
            try await club.server.start()
            let third = try #require(await club.server.stop())
            #expect(third.status == 0 && third.errorText.contains(notice), "\(third)")
            let other = try await ServerProcess(data: club.folder.path + "/other")
            let fourth = try #require(await other.stop())
            #expect(!fourth.errorText.contains(notice), "\(fourth)")
        }

        @Test("the log has a line a request and no secret")
        func log() async throws {
            let club = try await Club.start()
            let ann = try await club.member("ann")
            #expect(try await ann.byteclub("notes", "add", "a.md", input: Array("the text".utf8)).status == 0)
            let query = await RawExchange.send(
                "GET /1/account/info?access_token=\(club.api.token)", port: club.server.port)
            #expect(query?.status == 200, "a token may be in the query: \(query?.start ?? "no answer")")
            let result = try #require(await club.server.stop())
            #expect(result.errorText.contains("files_put"), "\(result)")
            #expect(!result.errorText.contains(club.api.token) && !result.errorText.contains("the text"), "\(result)")
        }

        @Test("a second server on the same data is refused, and the first goes on")
        func secondServer() async throws {
            let club = try await Club.start()
            let second = try await Program.run(
                "byteclub-server", ["--data", club.server.data, "--listen", "127.0.0.1:0"])
            #expect(second.status != 0 && second.output.isEmpty && !second.isTimedOut, "\(second)")
            #expect(second.errorLines.count == 1, "\(second)")
            #expect(try await club.api.put([1], "/byteclub/a.md").status == 200)
        }

        @Test("a port that is taken, a bad address and plain http for everybody are one line and no server")
        func badListen() async throws {
            let club = try await Club.start()
            let data = club.folder.path + "/other"
            for listen in ["127.0.0.1:\(club.server.port)", "nonsense", "127.0.0.1:70000", "0.0.0.0:0"] {
                let result = try await Program.run("byteclub-server", ["--data", data, "--listen", listen])
                #expect(result.status != 0 && !result.isTimedOut && result.signal == nil, "\(listen): \(result)")
                #expect(result.output.isEmpty && result.errorLines.count == 1, "\(listen): \(result)")
            }
        }

        @Test("byteclub serve and members find the server program, and members are told as JSON too")
        func onePlace() async throws {
            let folder = try TemporaryDirectory()
            let data = folder.path + "/data"
            let added = try await Program.run("byteclub", ["members", "add", "ann", "--data", data, "--json"])
            let member = try JSONValue.parse(added.output)
            #expect(added.status == 0 && member["name"]?.text == "ann" && member["uid"]?.number != nil, "\(added)")
            let again = try await Program.run("byteclub", ["members", "add", "ann", "--data", data])
            #expect(again.status != 0 && again.output.isEmpty && again.errorLines.count == 1, "\(again)")
            let serve = try Program.start("byteclub", ["serve", "--data", data, "--listen", "127.0.0.1:0"])
            let line = await serve.line { $0.hasPrefix("listening on http://127.0.0.1:") }
            #expect(line != nil)
            let list = try await Program.run("byteclub", ["members", "list", "--data", data])
            #expect(list.status == 0 && list.text.contains("ann"), "\(list)")
            let eve = MemberMachine("eve", in: folder.path)
            let token = try #require(member["token"]?.text)
            let address = String(try #require(line).dropFirst("listening on ".count))
            let who = try await eve.byteclub(
                "whoami", environment: ["BYTECLUB_SERVER": address, "BYTECLUB_TOKEN": token])
            #expect(who.status == 0 && who.text.contains("ann"), "\(who)")
            serve.send(SIGTERM)
            let end = await serve.result()
            #expect(end.status == 0, "\(end)")
        }
    }
}
